// The tests of a judge: its arguments, the values of values.tsv, and one JSON object a line for each test.
import { readFileSync } from 'node:fs';

const NEEDED = ['host', 'port', 'database', 'user', 'password', 'tls', 'values'];

export const options = Object.fromEntries(process.argv.slice(2).map((a) => /^--([^=]+)=([^]*)$/.exec(a)?.slice(1) ?? [a, '']));
const missing = NEEDED.filter((name) => !(name in options));
if (missing.length > 0) {
  console.error(`missing: ${missing.map((name) => `--${name}=`).join(' ')}`);
  process.exit(2);
}

let passed = 0;
let failed = 0;

// check runs a test; body returns what to print beside it, or throws when the server did not do its part.
export async function check(test, body) {
  const began = Date.now();
  let ok = true;
  let detail;
  try {
    detail = await body();
    passed++;
  } catch (e) {
    ok = false;
    failed++;
    detail = [e.name, e.message, ...(e.errors ?? []).map((x) => x.message)].join(': ');
  }
  console.log(JSON.stringify({ judge: 'tedious', test, ok, ms: Date.now() - began, detail: String(detail ?? '').slice(0, 500) }));
}

// end prints the summary; the process ends with 1 when a test failed or none ran.
export function end() {
  console.log(JSON.stringify({ judge: 'tedious', passed, failed }));
  process.exit(failed > 0 || passed === 0 ? 1 : 0);
}

export function want(condition, otherwise) {
  if (!condition) throw new Error(otherwise);
}

export const cut = (s) => (s.length > 60 ? `${s.slice(0, 60)}... (${s.length})` : s);

// values gives the lines of values.tsv.
export function values() {
  return readFileSync(options.values, 'utf8')
    .split('\n')
    .filter((line) => line.trim() && !line.startsWith('#'))
    .map((line) => line.split('\t'))
    .map(([name, type, expression, text]) => ({ name, type, expression, text: repeated(text) }));
}

// X*N means N times X.
function repeated(s) {
  const found = /^([^]*)\*(\d{3,})$/.exec(s);
  if (!found) return s;
  const n = Number(found[2]);
  return found[1].startsWith('0x') ? `0x${found[1].slice(2).repeat(n)}` : found[1].repeat(n);
}

// same compares what tedious gave with the text of a value. Its decimals are numbers of JavaScript, so that of long ones the
// first 15 digits are what can be compared.
export function same({ type, text }, got) {
  if (type === 'money' || /38,10|19,4|28,0/.test(type)) {
    want(typeof got === 'number' && got.toPrecision(15) === Number(text).toPrecision(15), `want ${text} got ${got}`);
  } else if (/^(real|float|decimal|numeric|smallmoney)/.test(type) || (type === 'sql_variant' && typeof got === 'number')) {
    want(Number(text) === got, `want ${text} got ${got}`);
  } else if (/^(date|time|smalldate)/.test(type)) {
    want(got instanceof Date, `not a Date: ${got}`);
    want(instant(type, text) === got.getTime(), `want ${text} got ${got.toISOString()}`);
  } else {
    const shown = Buffer.isBuffer(got) ? `0x${got.toString('hex').toUpperCase()}` : typeof got === 'boolean' ? String(Number(got)) : String(got);
    want(shown === text, `want ${cut(text)} got ${cut(shown)}`);
  }
}

// instant is a time as JavaScript has it, without what is finer than a millisecond; a time of day is one of 1970.
function instant(type, text) {
  const parts = text.split(' ');
  const [day, clock] = /^time/.test(type) ? ['1970-01-01', parts[0]] : [parts[0], parts[1] ?? '00:00:00'];
  return Date.parse(`${day}T${clock.slice(0, 12)}${parts[2] ?? 'Z'}`);
}
