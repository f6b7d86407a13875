package judge;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A line of values.tsv: an expression, its type, and the text that every client must get. */
record Value(String name, String type, String expression, String text) {
    static List<Value> read(String file) throws IOException {
        return Files.readAllLines(Path.of(file)).stream()
                .filter(l -> !l.startsWith("#") && !l.isBlank())
                .map(l -> l.split("\t", -1))
                .map(f -> new Value(f[0], f[1], f[2], repeated(f[3])))
                .toList();
    }

    boolean binary() {
        return type.contains("binary") || type.equals("image") || type.equals("hierarchyid");
    }

    boolean exact() {
        return type.startsWith("decimal") || type.startsWith("numeric") || type.endsWith("money");
    }

    void same(String got) {
        boolean equal;
        if (type.equals("real") || type.equals("float")) {
            equal = Double.parseDouble(text) == Double.parseDouble(got);
        } else if (type.startsWith("time") || type.startsWith("date") || type.startsWith("smalldate")) {
            equal = withoutZeros(text).equals(withoutZeros(got));
        } else {
            equal = text.equals(got);
        }
        Suite.want(equal, "want " + Suite.cut(text) + " got " + Suite.cut(String.valueOf(got)));
    }

    /** X*N means N times X. */
    private static String repeated(String s) {
        int star = s.lastIndexOf('*');
        if (star < 0 || !s.substring(star + 1).matches("\\d{3,}")) {
            return s;
        }
        int n = Integer.parseInt(s.substring(star + 1));
        String unit = s.substring(0, star);
        return unit.startsWith("0x") ? "0x" + unit.substring(2).repeat(n) : unit.repeat(n);
    }

    /** Drivers differ in trailing zeros of a fraction, which mean nothing. */
    private static String withoutZeros(String s) {
        return s.replaceAll("(\\.\\d*?)0+(?=$| )", "$1").replaceAll("\\.(?=$| )", "");
    }
}
