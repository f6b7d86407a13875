package judge;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;

/**
 * Judges a server through Microsoft's JDBC driver, or through jTDS, which speaks TDS 7.1 and begins without PRELOGIN
 * when it does not encrypt. This class logs in; the tests of a session are in the classes that run calls.
 */
public final class Jdbc {
    private static final int LOGIN_FAILED = 18456;

    final Suite suite;
    final boolean microsoft;

    private Jdbc(Suite suite, boolean microsoft) {
        this.suite = suite;
        this.microsoft = microsoft;
    }

    /** Arguments: --driver=mssql-jdbc|jtds, the server, --tls=off|login|on, --ca=FILE, --values=FILE, --table=, --only=logins. */
    public static void main(String[] args) throws Exception {
        Map<String, String> o = Suite.options(args, List.of("driver", "host", "port", "database", "user", "password", "tls", "values", "table"));
        Suite suite = new Suite(o.get("driver"), o);
        new Jdbc(suite, o.get("driver").equals("mssql-jdbc")).run();
        suite.end();
    }

    private void run() throws Exception {
        logins();
        if ("logins".equals(suite.option("only"))) {
            return;
        }
        List<Value> values = Value.read(suite.option("values"));
        for (String mode : modes()) {
            suite.check("all types with encryption " + mode, () -> {
                try (Connection c = open(mode, "")) {
                    return new JdbcValues(this, c).readAll(values);
                }
            });
        }
        try (Connection c = open(plain(), "")) {
            new JdbcValues(this, c).run();
            new JdbcAnswers(this, c).run();
            new JdbcSession(this, c).run();
            new JdbcCatalog(this, c).run();
        } catch (SQLException e) {
            suite.check("session", () -> {
                throw e;
            });
        }
    }

    private String plain() {
        return microsoft ? "false" : "off";
    }

    /** How the client can be told to encrypt. */
    private List<String> modes() {
        return microsoft ? List.of("false", "true", "strict") : List.of("off", "require");
    }

    private void logins() {
        for (String mode : modes()) {
            if (worksWith(mode)) {
                suite.check("login with encryption " + mode, () -> whoami(mode));
            } else {
                suite.check("login with encryption " + mode + " is refused", () -> refused(mode));
            }
        }
        if (worksWith(plain())) {
            suite.check("login with a wrong password", this::wrongPassword);
            if (microsoft && !suite.tls().equals("on")) { // the driver has no packets above 16 KB inside TLS
                suite.check("login with packets of 512 and of 32767 bytes", this::packetSizes);
            }
        }
    }

    /**
     * A client that asks for no encryption gets all of it where the server insists, except jTDS, which then sends no
     * PRELOGIN and cannot be told. jTDS cannot drop TLS behind the login on today's Java, so ssl=request is not here.
     */
    private boolean worksWith(String mode) {
        if (mode.equals("off")) {
            return !suite.tls().equals("on");
        }
        return mode.equals("false") || !suite.tls().equals("off");
    }

    private String whoami(String mode) throws SQLException {
        try (Connection c = open(mode, ""); Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT DB_NAME(), @@SPID")) {
            r.next();
            Suite.want(r.getString(1).equals(suite.option("database")), "in database " + r.getString(1));
            DatabaseMetaData d = c.getMetaData();
            return "session " + r.getInt(2) + " of " + d.getDatabaseProductName() + " " + d.getDatabaseProductVersion();
        }
    }

    private String refused(String mode) {
        try (Connection c = open(mode, "")) {
            throw new IllegalStateException("let in");
        } catch (SQLException e) {
            return e.getMessage();
        }
    }

    private String wrongPassword() {
        try (Connection c = DriverManager.getConnection(url(plain(), "not-it", ""))) {
            throw new IllegalStateException("let in");
        } catch (SQLException e) {
            return number(LOGIN_FAILED, e);
        }
    }

    private String packetSizes() throws SQLException {
        for (String size : List.of("512", "32767")) {
            try (Connection c = open("false", ";packetSize=" + size); Statement s = c.createStatement();
                    ResultSet r = s.executeQuery("SELECT REPLICATE(CAST(N'x' AS nvarchar(max)), 100000)")) {
                r.next();
                Suite.want(r.getString(1).length() == 100_000, r.getString(1).length() + " characters");
            }
        }
        return "100,000 characters each";
    }

    Connection open(String encryption, String more) throws SQLException {
        return DriverManager.getConnection(url(encryption, suite.option("password"), more));
    }

    private String url(String encryption, String password, String more) {
        String server = suite.option("host") + ":" + suite.option("port");
        if (!microsoft) {
            return "jdbc:jtds:sqlserver://" + server + "/" + suite.option("database") + ";user=" + suite.option("user") + ";password=" + password
                    + ";ssl=" + encryption + ";loginTimeout=15;appName=judge" + more;
        }
        String trust = encryption.equals("strict") ? ";serverCertificate=" + suite.option("ca") : ";trustServerCertificate=true";
        return "jdbc:sqlserver://" + server + ";databaseName=" + suite.option("database") + ";user=" + suite.option("user")
                + ";password={" + password.replace("}", "}}") + "};encrypt=" + encryption + trust + ";loginTimeout=15;applicationName=judge" + more;
    }

    /** Says what the error was, when it has the number that it must have. */
    static String number(int want, SQLException e) {
        Suite.want(e.getErrorCode() == want, "error " + e.getErrorCode() + " in place of " + want + ": " + e.getMessage());
        return e.getErrorCode() + " " + e.getSQLState() + " " + e.getMessage();
    }
}
