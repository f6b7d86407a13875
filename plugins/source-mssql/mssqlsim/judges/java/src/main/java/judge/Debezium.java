package judge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Runs Debezium's SQL Server connector and prints each change event as one JSON object a line, until standard input
 * ends. Exits with 1 when the connector gave up; what it logs goes to standard error.
 */
public final class Debezium {
    private static volatile String problem;

    private Debezium() {
    }

    /** Arguments: the server, --tables=SCHEMA.TABLE,..., --encrypt=false|true|strict, --ca=FILE for strict, --state=DIR for its offset and schemas. */
    public static void main(String[] args) throws Exception {
        Map<String, String> o = Suite.options(args, List.of("host", "port", "database", "user", "password", "tables", "encrypt", "state"));
        DebeziumEngine<ChangeEvent<String, String>> engine = DebeziumEngine.create(Json.class)
                .using(properties(o))
                .notifying((events, committer) -> {
                    for (ChangeEvent<String, String> e : events) {
                        print(e);
                        committer.markProcessed(e);
                    }
                    committer.markBatchFinished();
                })
                .using((success, message, error) -> {
                    if (!success) {
                        problem = message + " " + Suite.causes(error);
                        System.err.println(problem);
                        System.exit(1); // nobody need wait for events that cannot come
                    }
                })
                .build();
        ExecutorService running = Executors.newSingleThreadExecutor();
        running.execute(engine);
        while (System.in.read() >= 0) {
            continue; // until the end of input
        }
        engine.close();
        running.shutdown();
        boolean ended = running.awaitTermination(20, TimeUnit.SECONDS);
        if (!ended) {
            System.err.println("the engine has not ended 20 s after it was closed");
        }
        System.exit(ended && problem == null ? 0 : 1);
    }

    private static Properties properties(Map<String, String> o) throws IOException {
        Path state = Path.of(o.get("state"));
        Files.createDirectories(state);
        Properties p = new Properties();
        p.setProperty("name", "judge");
        p.setProperty("connector.class", "io.debezium.connector.sqlserver.SqlServerConnector");
        p.setProperty("offset.storage", "org.apache.kafka.connect.storage.FileOffsetBackingStore");
        p.setProperty("offset.storage.file.filename", state.resolve("offsets").toString());
        p.setProperty("offset.flush.interval.ms", "1000");
        p.setProperty("schema.history.internal", "io.debezium.storage.file.history.FileSchemaHistory");
        p.setProperty("schema.history.internal.file.filename", state.resolve("history").toString());
        p.setProperty("topic.prefix", "judge");
        p.setProperty("database.hostname", o.get("host"));
        p.setProperty("database.port", o.get("port"));
        p.setProperty("database.names", o.get("database"));
        p.setProperty("database.user", o.get("user"));
        p.setProperty("database.password", o.get("password"));
        p.setProperty("driver.encrypt", o.get("encrypt"));
        if (o.get("encrypt").equals("strict")) {
            p.setProperty("driver.serverCertificate", o.get("ca"));
        } else {
            p.setProperty("driver.trustServerCertificate", "true");
        }
        p.setProperty("table.include.list", o.get("tables"));
        p.setProperty("snapshot.mode", "initial");
        p.setProperty("poll.interval.ms", "100");
        p.setProperty("decimal.handling.mode", "string");
        p.setProperty("tombstones.on.delete", "false");
        p.setProperty("errors.max.retries", "0"); // a fault is to be seen, not hidden by a second try
        p.setProperty("converter.schemas.enable", "false");
        return p;
    }

    /** What a change is, without Debezium's envelope; events that are no changes have no operation. */
    private static void print(ChangeEvent<String, String> e) {
        if (e.value() == null) {
            return;
        }
        JsonNode value;
        try {
            value = Suite.JSON.readTree(e.value());
        } catch (IOException bad) {
            throw new IllegalStateException("an event that is no JSON: " + e.value(), bad);
        }
        if (!value.has("op")) {
            return;
        }
        ObjectNode line = Suite.JSON.createObjectNode();
        for (String field : List.of("snapshot", "table", "commit_lsn", "change_lsn")) {
            line.set(field, value.path("source").get(field));
        }
        for (String field : List.of("op", "before", "after")) {
            line.set(field, value.get(field));
        }
        Suite.OUT.println(line);
    }
}
