package judge;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;

/** What the drivers ask of the catalog, by procedures such as sp_columns_100 and by queries of their own. */
final class JdbcCatalog {
    private final Suite suite;
    private final DatabaseMetaData d;

    JdbcCatalog(Jdbc jdbc, Connection c) throws SQLException {
        this.suite = jdbc.suite;
        this.d = c.getMetaData();
    }

    void run() {
        String database = suite.option("database");
        String[] name = suite.option("table").split("\\.");
        suite.check("catalog: tables", () -> rows(d.getTables(database, name[0], name[1], new String[]{ "TABLE" }), "TABLE_NAME", "TABLE_TYPE"));
        suite.check("catalog: columns", () -> rows(d.getColumns(database, name[0], name[1], null),
                "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "IS_NULLABLE"));
        suite.check("catalog: primary key", () -> rows(d.getPrimaryKeys(database, name[0], name[1]), "COLUMN_NAME", "KEY_SEQ"));
        suite.check("catalog: indexes", () -> rows(d.getIndexInfo(database, name[0], name[1], true, true), "INDEX_NAME", "COLUMN_NAME"));
        suite.check("catalog: databases", () -> rows(d.getCatalogs(), "TABLE_CAT"));
        suite.check("catalog: schemas", () -> rows(d.getSchemas(), "TABLE_SCHEM"));
        suite.check("catalog: types", () -> rows(d.getTypeInfo(), "TYPE_NAME", "DATA_TYPE", "PRECISION"));
        suite.check("catalog: best row identifier", () -> rows(d.getBestRowIdentifier(database, name[0], name[1], DatabaseMetaData.bestRowSession, true), "COLUMN_NAME", "DATA_TYPE"));
        suite.check("catalog: table privileges", () -> rows(d.getTablePrivileges(database, name[0], name[1]), "GRANTEE", "PRIVILEGE", "IS_GRANTABLE"));
        suite.check("catalog: column privileges", () -> rows(d.getColumnPrivileges(database, name[0], name[1], "%"), "COLUMN_NAME", "PRIVILEGE"));
        suite.check("catalog: version columns", () -> {
            try (ResultSet r = d.getVersionColumns(database, name[0], name[1])) {
                Suite.want(!r.next(), "there is one");
                return "none";
            }
        });
        suite.check("catalog: procedures", this::procedures);
    }

    private String procedures() throws SQLException {
        try (Statement s = d.getConnection().createStatement()) {
            s.execute("CREATE PROCEDURE dbo.judged @n int, @m nvarchar(20) OUTPUT AS SET @m = N'x'");
            try {
                return rows(d.getProcedures(null, "dbo", "judged"), "PROCEDURE_NAME") + "; "
                        + rows(d.getProcedureColumns(null, "dbo", "judged", null), "COLUMN_NAME", "COLUMN_TYPE", "DATA_TYPE");
            } finally {
                s.execute("DROP PROCEDURE dbo.judged");
            }
        }
    }

    private static String rows(ResultSet all, String... columns) throws SQLException {
        List<String> text = new ArrayList<>();
        try (ResultSet r = all) {
            while (r.next()) {
                StringJoiner row = new StringJoiner(" ");
                for (String c : columns) {
                    row.add(r.getString(c));
                }
                text.add(row.toString());
            }
        }
        Suite.want(!text.isEmpty(), "no rows");
        return String.join("; ", text);
    }
}
