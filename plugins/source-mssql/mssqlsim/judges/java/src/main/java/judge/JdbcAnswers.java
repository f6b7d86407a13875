package judge;

import java.sql.Connection;
import java.sql.DataTruncation;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** What may be in an answer besides rows: several results, counts, messages and errors. */
final class JdbcAnswers {
    private record Failing(int number, String sql) {
    }

    private static final int USER_ERROR = 50000;
    private static final int SYNTAX = 102;
    private static final int DIVISION_BY_ZERO = 8134;

    private final Suite suite;
    private final Connection c;

    JdbcAnswers(Jdbc jdbc, Connection c) {
        this.suite = jdbc.suite;
        this.c = c;
    }

    void run() {
        suite.check("several results with a message between", this::several);
        suite.check("a batch of nothing, and one of SET alone", this::nothing);
        for (int severity : new int[]{ 1, 10, 11, 14, 16 }) {
            suite.check("RAISERROR of severity " + severity, () -> raise(severity));
        }
        List<Failing> all = List.of(
                new Failing(DIVISION_BY_ZERO, "SELECT 1/0"),
                new Failing(208, "SELECT * FROM dbo.no_such_table"),
                new Failing(207, "SELECT no_such_column FROM sys.columns"),
                new Failing(2812, "EXEC dbo.no_such_procedure"),
                new Failing(SYNTAX, "SELEC 1 FRO"),
                new Failing(51000, "THROW 51000, 'thrown', 1"),
                new Failing(245, "SELECT CAST('x' AS int)"),
                new Failing(8115, "SELECT CAST(2147483647 AS int) + 1"));
        for (Failing f : all) {
            suite.check("error " + f.number, () -> fails(f, false));
            suite.check("error " + f.number + ", prepared", () -> fails(f, true));
        }
        suite.check("rows, then an error", this::rowsThenError);
    }

    private String several() throws SQLException {
        try (Statement s = c.createStatement()) {
            List<String> got = new ArrayList<>();
            boolean rows = s.execute("SELECT 1 AS a; PRINT 'note'; SELECT 2 AS b, N'x' AS c;"
                    + " DECLARE @t TABLE (n int); INSERT INTO @t VALUES (1), (2), (3); SELECT n FROM @t ORDER BY n");
            for (; rows || s.getUpdateCount() >= 0; rows = s.getMoreResults()) {
                got.add(rows ? "rows " + count(s) : "count " + s.getUpdateCount());
            }
            Suite.want(got.equals(List.of("rows 1", "rows 1", "count 3", "rows 3")), got.toString());
            SQLWarning w = s.getWarnings();
            return got + (w == null ? "" : ", message " + w.getMessage()); // jTDS keeps messages with the result they came before
        }
    }

    private static int count(Statement s) throws SQLException {
        try (ResultSet r = s.getResultSet()) {
            int n = 0;
            while (r.next()) {
                r.getObject(1);
                n++;
            }
            return n;
        }
    }

    private String nothing() throws SQLException {
        try (Statement s = c.createStatement()) {
            s.execute("SET NOCOUNT ON");
            s.execute("SET NOCOUNT OFF");
            s.execute(" ");
            return "";
        }
    }

    /** Up to severity 10 it is a message, above it is an error. */
    private String raise(int severity) throws SQLException {
        try (Statement s = c.createStatement()) {
            s.execute("RAISERROR('text', " + severity + ", 3)");
            SQLWarning w = s.getWarnings();
            Suite.want(severity <= 10 && w != null && w.getErrorCode() == USER_ERROR, "no error, and the message is " + w);
            return "message " + w.getMessage();
        } catch (SQLException e) {
            Suite.want(severity > 10, "an error: " + e.getMessage());
            return Jdbc.number(USER_ERROR, e);
        }
    }

    private String fails(Failing f, boolean prepared) {
        try {
            if (prepared) {
                try (PreparedStatement s = c.prepareStatement(f.sql)) {
                    drain(s, s.execute());
                }
            } else {
                try (Statement s = c.createStatement()) {
                    drain(s, s.execute(f.sql));
                }
            }
        } catch (DataTruncation e) { // jTDS makes this of 8115, and drops the number
            return e.getMessage();
        } catch (SQLException e) {
            // Which error a parser gives for text that is no T-SQL depends on where it gave up.
            return f.number == SYNTAX ? e.getMessage() : Jdbc.number(f.number, e);
        }
        throw new IllegalStateException("no error");
    }

    private String rowsThenError() throws SQLException {
        int n = 0;
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT 1 AS a; SELECT 1/0 AS b")) {
            while (r.next()) {
                n++;
            }
            drain(s, s.getMoreResults());
        } catch (SQLException e) {
            Suite.want(n == 1, n + " rows before the error");
            return "1 row, then " + Jdbc.number(DIVISION_BY_ZERO, e);
        }
        throw new IllegalStateException("no error");
    }

    private static void drain(Statement s, boolean rows) throws SQLException {
        while (rows || s.getUpdateCount() >= 0) {
            if (rows) {
                count(s);
            }
            rows = s.getMoreResults();
        }
    }
}
