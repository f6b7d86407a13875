package judge;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** What spans statements: transactions, a statement that is given up, cursors on the server. */
final class JdbcSession {
    private static final int SNAPSHOT = 4096; // SQLServerConnection.TRANSACTION_SNAPSHOT
    private static final String WAIT = "WAITFOR DELAY '00:00:20'";
    private static final double SOON = 8; // seconds, well before WAIT ends

    private final Jdbc jdbc;
    private final Suite suite;
    private final Connection c;

    JdbcSession(Jdbc jdbc, Connection c) {
        this.jdbc = jdbc;
        this.suite = jdbc.suite;
        this.c = c;
    }

    void run() {
        for (int level : new int[]{ 1, 2, 4, 8, SNAPSHOT }) {
            if (jdbc.microsoft || level != SNAPSHOT) {
                suite.check("transaction at isolation level " + level, () -> transaction(level));
            }
        }
        suite.check("query timeout", this::timeout);
        suite.check("cancel from another thread", this::cancel);
        suite.check("close a large result early", this::closeEarly);
        suite.check("result that scrolls", this::scroll);
        if (jdbc.microsoft) {
            suite.check("cursor of the server in steps of 7 rows", this::serverCursor);
        }
    }

    private String transaction(int level) throws SQLException {
        c.setTransactionIsolation(level);
        c.setAutoCommit(false);
        int inside = number("SELECT @@TRANCOUNT FROM sys.schemas WHERE name = 'dbo'");
        Suite.want(inside == 1, "@@TRANCOUNT is " + inside + " in a transaction");
        c.commit();
        number("SELECT COUNT(*) FROM sys.schemas");
        c.rollback();
        c.setAutoCommit(true);
        int outside = number("SELECT @@TRANCOUNT");
        Suite.want(outside == 0, "@@TRANCOUNT is " + outside + " behind it");
        c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        return "";
    }

    private int number(String sql) throws SQLException {
        try (Statement s = c.createStatement(); ResultSet r = s.executeQuery(sql)) {
            r.next();
            return r.getInt(1);
        }
    }

    private String timeout() throws SQLException {
        long began = System.nanoTime();
        try (Statement s = c.createStatement()) {
            s.setQueryTimeout(1);
            s.execute(WAIT);
        } catch (SQLException e) {
            return soon(began) + e.getMessage();
        }
        throw new IllegalStateException("no timeout");
    }

    private String cancel() throws SQLException {
        ScheduledExecutorService other = Executors.newSingleThreadScheduledExecutor();
        long began = System.nanoTime();
        try (Statement s = c.createStatement()) {
            other.schedule(() -> {
                s.cancel();
                return null;
            }, 300, TimeUnit.MILLISECONDS);
            s.execute(WAIT);
            Suite.want(!jdbc.microsoft, "not cancelled"); // jTDS ends some cancelled statements without an exception
            return soon(began);
        } catch (SQLException e) {
            return soon(began) + e.getMessage();
        } finally {
            other.shutdownNow();
        }
    }

    /** The statement ended before WAIT was over, and the connection can be used on. */
    private String soon(long began) throws SQLException {
        double seconds = (System.nanoTime() - began) / 1e9;
        Suite.want(seconds < SOON, "only after " + seconds + " s");
        number("SELECT 1");
        return String.format("after %.1f s, the connection goes on: ", seconds);
    }

    private String closeEarly() throws SQLException {
        for (int read = 0; read < 10; read++) {
            try (Statement s = c.createStatement();
                    ResultSet r = s.executeQuery("SELECT TOP (300) REPLICATE(CAST('v' AS varchar(max)), 60000) FROM sys.types a CROSS JOIN sys.types b")) {
                for (int i = 0; i < read; i++) {
                    r.next();
                }
            }
            number("SELECT 1");
        }
        return "10 times";
    }

    private String scroll() throws SQLException {
        try (Statement s = c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY);
                ResultSet r = s.executeQuery("SELECT name, user_type_id FROM sys.types ORDER BY name")) {
            int n = 0;
            while (r.next()) {
                n++;
            }
            Suite.want(n >= 20, n + " rows");
            r.last();
            String last = r.getString(1);
            r.first();
            String first = r.getString(1);
            r.absolute(3);
            String third = r.getString(1);
            r.previous();
            r.next();
            Suite.want(third.equals(r.getString(1)), "row 3 is " + third + ", then " + r.getString(1));
            return n + " rows from " + first + " to " + last;
        }
    }

    private String serverCursor() throws SQLException {
        int all = number("SELECT COUNT(*) FROM sys.columns");
        try (Connection other = jdbc.open("false", ";selectMethod=cursor"); Statement s = other.createStatement()) {
            s.setFetchSize(7);
            try (ResultSet r = s.executeQuery("SELECT name FROM sys.columns ORDER BY name")) {
                int n = 0;
                while (r.next()) {
                    n++;
                }
                Suite.want(n == all && n > 7, n + " rows of " + all);
                return n + " rows";
            }
        }
    }
}
