package judge;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The tests of one judge: its arguments, and one JSON object a line for each test. */
final class Suite {
    /** Returns what to print beside a test that passed; throws when the server did not do its part. */
    interface Body {
        Object run() throws Exception;
    }

    static final ObjectMapper JSON = new ObjectMapper();
    static final PrintStream OUT = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);

    private final String judge;
    private final Map<String, String> options;
    private int passed;
    private int failed;

    Suite(String judge, Map<String, String> options) {
        this.judge = judge;
        this.options = options;
    }

    /** Reads --name=value; wrong arguments end the process with 2. */
    static Map<String, String> options(String[] args, List<String> needed) {
        Map<String, String> all = new HashMap<>();
        for (String a : args) {
            int eq = a.indexOf('=');
            if (!a.startsWith("--") || eq < 0) {
                wrong("not --name=value: " + a);
            }
            all.put(a.substring(2, eq), a.substring(eq + 1));
        }
        for (String name : needed) {
            if (!all.containsKey(name)) {
                wrong("--" + name + "= is missing");
            }
        }
        return all;
    }

    private static void wrong(String why) {
        System.err.println(why);
        System.exit(2);
    }

    String option(String name) {
        return options.get(name);
    }

    /** The encryption that the server offers: off, login or on. */
    String tls() {
        return options.get("tls");
    }

    void check(String test, Body body) {
        long began = System.nanoTime();
        String detail;
        boolean ok = true;
        try {
            detail = String.valueOf(body.run());
            passed++;
        } catch (Exception | Error e) { // whatever it is, it is this test that failed
            ok = false;
            failed++;
            detail = causes(e);
        }
        ObjectNode line = JSON.createObjectNode().put("judge", judge).put("test", test).put("ok", ok);
        OUT.println(line.put("ms", (System.nanoTime() - began) / 1_000_000).put("detail", detail));
    }

    /** Prints the summary; the process ends with 1 when a test failed or none ran. */
    void end() {
        OUT.println(JSON.createObjectNode().put("judge", judge).put("passed", passed).put("failed", failed));
        System.exit(failed == 0 && passed > 0 ? 0 : 1);
    }

    static void want(boolean condition, String otherwise) {
        if (!condition) {
            throw new IllegalStateException(otherwise);
        }
    }

    static String causes(Throwable e) {
        StringBuilder text = new StringBuilder();
        for (Throwable t = e; t != null; t = t.getCause()) {
            text.append(text.isEmpty() ? "" : " <- ").append(t);
        }
        return text.toString();
    }

    static String cut(String s) {
        return s.length() > 60 ? s.substring(0, 60) + "... (" + s.length() + ")" : s;
    }
}
