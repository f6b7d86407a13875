// Judges a server through tedious, the TDS client of Node.
import { readFileSync } from 'node:fs';
import { Connection, ISOLATION_LEVEL, Request, TYPES } from 'tedious';
import { check, cut, end, options, same, values, want } from './suite.js';

function connect(encrypt, password = options.password) {
  return new Promise((resolve, reject) => {
    const c = new Connection({
      server: options.host,
      authentication: { type: 'default', options: { userName: options.user, password } },
      options: {
        port: Number(options.port), database: options.database, encrypt, trustServerCertificate: true,
        // Strict encryption trusts no certificate that it does not know.
        cryptoCredentialsDetails: encrypt === 'strict' && options.ca ? { ca: readFileSync(options.ca) } : {},
        connectTimeout: 15000, requestTimeout: 60000, rowCollectionOnRequestCompletion: true, useUTC: true,
      },
    });
    c.on('connect', (e) => (e ? reject(e) : resolve(c)));
    c.on('error', () => {}); // told by the request or by connect
    c.connect();
  });
}

// run sends a statement; parameters are [name, type, value, options].
function run(c, sql, parameters = [], how = 'execSql') {
  return new Promise((resolve, reject) => {
    const messages = [];
    const output = {};
    const note = (m) => messages.push(m);
    const request = new Request(sql, (e, count, rows) => {
      c.removeListener('infoMessage', note);
      if (e) reject(e);
      else resolve({ rows: rows ?? [], messages, output });
    });
    c.on('infoMessage', note);
    request.on('returnValue', (name, v) => { output[name] = v; });
    for (const [name, type, value, o] of parameters) {
      if (o?.output) request.addOutputParameter(name, type, value, o);
      else request.addParameter(name, type, value, o);
    }
    c[how](request);
  });
}

// call turns a method that ends with a callback into a promise.
const call = (c, method, ...args) => new Promise((resolve, reject) => {
  c[method]((e, v) => (e ? reject(e) : resolve(v)), ...args);
});

async function refused(encrypt, password) {
  let c;
  try {
    c = await connect(encrypt, password);
  } catch (e) {
    return e.message;
  }
  c.close();
  throw new Error('let in');
}

const MODES = [false, true, 'strict'];

async function logins() {
  // Without encryption tedious says "not supported", so that a server that insists must refuse it. With it, tedious goes
  // on in the clear when the server has no certificate.
  const works = { off: [false, true], login: MODES, on: [true, 'strict'] }[options.tls];
  for (const encrypt of MODES) {
    if (!works.includes(encrypt)) {
      await check(`login with encrypt ${encrypt} is refused`, () => refused(encrypt));
      continue;
    }
    await check(`login with encrypt ${encrypt}`, async () => {
      const c = await connect(encrypt);
      const { rows } = await run(c, 'SELECT DB_NAME(), @@SPID');
      c.close();
      return rows[0].map((column) => column.value).join(' ');
    });
  }
  await check('login with a wrong password', async () => {
    const message = await refused(works[0], 'not-it');
    want(/login failed/i.test(message), message);
    return message;
  });
}

// allTypes reads each value once, as quickly as can be.
async function allTypes(encrypt) {
  const c = await connect(encrypt);
  const all = values();
  for (const v of all) {
    const { rows: [[value, after]] } = await run(c, `SELECT ${v.expression} AS v, 'after' AS w`, [], 'execSqlBatch');
    same(v, value.value);
    want(after.value === 'after', `the column behind ${v.name} is ${after.value}`);
  }
  c.close();
  return `${all.length} values`;
}

async function types(c) {
  for (const v of values()) {
    // The column behind it tells whether the client read the value to its end.
    await check(`type ${v.name}`, async () => {
      const { rows: [[value, after]] } = await run(c, `SELECT ${v.expression} AS v, 'after' AS w`, [], 'execSqlBatch');
      same(v, value.value);
      want(after.value === 'after', `the column behind it is ${after.value}`);
      return value.metadata.type.name;
    });
    await check(`type ${v.name} NULL`, async () => {
      const { rows: [[value, after]] } = await run(c, `SELECT CAST(NULL AS ${v.type}) AS v, 'after' AS w`, [], 'execSqlBatch');
      want(value.value === null && after.value === 'after', `got ${value.value}, then ${after.value}`);
    });
  }
}

const INSTANT = new Date('2026-03-04T05:06:07.123Z');
const PARAMETERS = [
  ['TinyInt', 255], ['SmallInt', -5], ['Int', 42], ['BigInt', '7000000000'], ['Bit', true], ['Real', 1.5], ['Float', 3.25],
  ['Decimal', 12.5, { precision: 9, scale: 4 }], ['Money', 9.99], ['VarChar', 'plain'], ['NVarChar', 'héllo 😀'], ['NVarChar', 'x'.repeat(9000)], ['Char', 'abc'],
  ['VarBinary', Buffer.from([0, 1, 2])], ['VarBinary', Buffer.alloc(9000)], ['DateTime', INSTANT], ['DateTime2', INSTANT, { scale: 7 }], ['DateTimeOffset', INSTANT],
  ['Date', new Date('2026-03-04T00:00:00Z')], ['Time', new Date('1970-01-01T05:06:07.123Z')], ['UniqueIdentifier', '01234567-89AB-CDEF-0123-456789ABCDEF'], ['NVarChar', null],
];

function echoes(sent, got) {
  if (sent === null) return got === null;
  if (Buffer.isBuffer(sent)) return sent.equals(got);
  if (sent instanceof Date) return Math.abs(got - sent) < 4; // datetime is exact to 1/300 s
  return String(got) === String(sent);
}

async function parameters(c) {
  for (const [type, sent, o] of PARAMETERS) {
    await check(`parameter ${type} ${cut(String(sent))}`, async () => {
      const { rows: [[value, after]] } = await run(c, "SELECT @p AS a, 'after' AS b", [['p', TYPES[type], sent, o]]);
      want(echoes(sent, value.value), `got ${cut(String(value.value))}`);
      want(after.value === 'after', `the column behind it is ${after.value}`);
    });
  }
  await check('output parameter', async () => {
    const { output } = await run(c, 'SET @o = @i * 2', [['i', TYPES.Int, 21], ['o', TYPES.Int, null, { output: true }]]);
    want(output.o === 42, JSON.stringify(output));
  });
  await check('prepare, execute 3 times, unprepare', async () => {
    const got = [];
    const request = new Request('SELECT @n + 1 AS a', () => {});
    const step = (method, ...args) => new Promise((resolve, reject) => {
      request.callback = (e) => (e ? reject(e) : resolve());
      request.userCallback = request.callback;
      c[method](request, ...args);
    });
    request.addParameter('n', TYPES.Int);
    request.on('row', (row) => got.push(row[0].value));
    await new Promise((resolve, reject) => { request.on('prepared', resolve); request.on('error', reject); c.prepare(request); });
    for (const n of [0, 1, 2]) await step('execute', { n });
    await step('unprepare');
    want(got.join() === '1,2,3', got.join());
  });
}

const ERRORS = [
  [8134, 'SELECT 1/0'], [208, 'SELECT * FROM dbo.no_such_table'], [2812, 'EXEC dbo.no_such_procedure'],
  [50000, "RAISERROR('text', 16, 3)"], [51000, "THROW 51000, 'thrown', 1"],
];

async function answers(c) {
  for (const [number, sql] of ERRORS) {
    for (const how of ['execSql', 'execSqlBatch']) {
      await check(`error ${number} by ${how}`, async () => {
        const e = await run(c, sql, [], how).then(() => new Error('no error'), (failure) => failure);
        want((e.number ?? e.errors?.[0]?.number) === number, `${e.number}: ${e.message}`);
        return `class ${e.class} state ${e.state} ${e.message}`;
      });
    }
  }
  await check('messages', async () => {
    const { messages } = await run(c, "PRINT 'note'; RAISERROR('low', 9, 1); SELECT 1 AS a", [], 'execSqlBatch');
    const got = messages.map((m) => `${m.number} ${m.message}`).join('; ');
    want(messages.some((m) => m.message === 'note') && messages.some((m) => m.number === 50000), got);
    return got;
  });
}

async function session(c) {
  await check('transaction with a savepoint, rolled back', async () => {
    await call(c, 'beginTransaction', '', ISOLATION_LEVEL.SNAPSHOT);
    await call(c, 'saveTransaction', 'sp');
    const { rows } = await run(c, 'SELECT @@TRANCOUNT AS n');
    await call(c, 'rollbackTransaction', '');
    want(rows[0][0].value === 1, `@@TRANCOUNT is ${rows[0][0].value}`);
  });
  await check('cancel', async () => {
    const began = Date.now();
    const waiting = run(c, "WAITFOR DELAY '00:00:20'", [], 'execSqlBatch').then(() => new Error('not cancelled'), (failure) => failure);
    setTimeout(() => c.cancel(), 300);
    const e = await waiting;
    want(/cancel/i.test(e.message) && Date.now() - began < 8000, `after ${Date.now() - began} ms: ${e.message}`);
    await run(c, 'SELECT 1'); // the connection goes on
  });
  await check('reset', () => call(c, 'reset'));
}

await logins();
if (options.only !== 'logins') {
  let c;
  await check('session', async () => { c = await connect(false); });
  if (c) {
    for (const encrypt of MODES) await check(`all types with encrypt ${encrypt}`, () => allTypes(encrypt));
    await types(c);
    await parameters(c);
    await answers(c);
    await session(c);
    c.close();
  }
}
end();
