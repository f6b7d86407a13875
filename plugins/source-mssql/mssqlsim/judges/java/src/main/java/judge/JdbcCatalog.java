package judge;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
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
