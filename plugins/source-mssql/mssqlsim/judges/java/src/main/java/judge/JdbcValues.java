package judge;

import java.math.BigDecimal;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/** Values in both directions: every type in answers, and parameters of statements that are executed again and again. */
final class JdbcValues {
    private final Jdbc jdbc;
    private final Suite suite;
    private final Connection c;

    JdbcValues(Jdbc jdbc, Connection c) {
        this.jdbc = jdbc;
        this.suite = jdbc.suite;
        this.c = c;
    }

    void run() throws Exception {
        List<Value> values = Value.read(suite.option("values"));
        for (Value v : values) {
            suite.check("type " + v.name(), () -> read(v));
            suite.check("type " + v.name() + " NULL", () -> readNull(v));
        }
        Object[] parameters = { 42, 7_000_000_000L, (short) -5, 3.25d, 1.5f, new BigDecimal("12345.6789"), "h\u00e9llo \ud83d\ude00", true, new byte[]{ 0, 1, 2 },
            Timestamp.valueOf("2026-03-04 05:06:07.1234567"), "x".repeat(9000), new byte[9000], null };
        for (Object p : parameters) {
            suite.check("parameter " + name(p), () -> send(p));
        }
        suite.check("output parameter", this::output);
    }

    private String read(Value v) throws SQLException {
        // The column behind it tells whether the client read the value to its end.
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT " + v.expression() + " AS v, 'after' AS w")) {
            r.next();
            v.same(text(r, 1, v));
            Suite.want(r.getString(2).equals("after"), "the column behind it is " + r.getString(2));
            ResultSetMetaData m = r.getMetaData();
            return m.getColumnTypeName(1) + "(" + m.getPrecision(1) + "," + m.getScale(1) + ") " + m.getColumnClassName(1);
        }
    }

    private String readNull(Value v) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT CAST(NULL AS " + v.type() + ") AS v, 'after' AS w")) {
            r.next();
            Suite.want(r.getObject(1) == null, "not NULL: " + r.getObject(1));
            Suite.want(r.getString(2).equals("after"), "the column behind it is " + r.getString(2));
            return r.getMetaData().getColumnTypeName(1);
        }
    }

    /** Every type in one row. */
    String readAll(List<Value> values) throws SQLException {
        String columns = values.stream().map(Value::expression).collect(Collectors.joining(" AS c, "));
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT " + columns + " AS c")) {
            r.next();
            for (int i = 0; i < values.size(); i++) {
                values.get(i).same(text(r, i + 1, values.get(i)));
            }
            return values.size() + " columns";
        }
    }

    private static String text(ResultSet r, int column, Value v) throws SQLException {
        if (v.binary()) {
            return "0x" + HexFormat.of().withUpperCase().formatHex(r.getBytes(column));
        }
        if (v.exact()) {
            return r.getBigDecimal(column).toPlainString();
        }
        return v.type().equals("bit") ? r.getBoolean(column) ? "1" : "0" : r.getString(column);
    }

    private String send(Object p) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("SELECT ? AS a, 'after' AS b")) {
            String type = "";
            for (int i = 0; i < 4; i++) { // Microsoft's driver executes at first, then prepares, then uses what it prepared
                if (p == null) {
                    s.setNull(1, Types.VARCHAR);
                } else {
                    s.setObject(1, p);
                }
                try (ResultSet r = s.executeQuery()) {
                    r.next();
                    Suite.want(echoes(p, r), "execution " + (i + 1) + " gave " + Suite.cut(String.valueOf(r.getObject(1))));
                    Suite.want(r.getString(2).equals("after"), "the column behind it is " + r.getString(2));
                    type = r.getMetaData().getColumnTypeName(1) + " " + r.getMetaData().getPrecision(1);
                }
            }
            return type;
        }
    }

    private boolean echoes(Object p, ResultSet r) throws SQLException {
        if (p instanceof byte[] bytes) {
            return Arrays.equals(bytes, r.getBytes(1));
        }
        if (p instanceof BigDecimal decimal) {
            return decimal.compareTo(r.getBigDecimal(1)) == 0;
        }
        if (p instanceof Timestamp time) { // jTDS sends a datetime, which is exact to 1/300 s
            return jdbc.microsoft ? time.equals(r.getTimestamp(1)) : Math.abs(time.getTime() - r.getTimestamp(1).getTime()) < 10;
        }
        if (p instanceof Number n) {
            return ((Number) r.getObject(1)).doubleValue() == n.doubleValue();
        }
        if (p instanceof String text) {
            return text.equals(r.getString(1));
        }
        return p == null ? r.getObject(1) == null : p.equals(r.getObject(1));
    }

    private static String name(Object p) {
        if (p == null) {
            return "NULL";
        }
        boolean large = p instanceof String s && s.length() > 4000 || p instanceof byte[] b && b.length > 8000;
        return p.getClass().getSimpleName() + (large ? ", large" : "");
    }

    private String output() throws SQLException {
        try (CallableStatement s = c.prepareCall("{call sp_executesql(?, ?, ?, ?)}")) {
            s.setString(1, "SET @o = @i * 2");
            s.setString(2, "@i int, @o int OUTPUT");
            s.setInt(3, 21);
            s.registerOutParameter(4, Types.INTEGER);
            s.execute();
            Suite.want(s.getInt(4) == 42, "got " + s.getInt(4));
            return "42";
        }
    }
}
