package mssql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// origin is the database that a connection leads to.
type origin struct {
	// database stays over fail-overs, display names also the server.
	database plugin.Database
	display  string
}

func originOf(db record) origin { return origin{databaseOf(db), display(db)} }

// databaseOf is who the database is, over fail-overs: never the server's name. In
// an availability group it keeps what it is known by without, so that one which
// joins or leaves a group is the same.
func databaseOf(db record) plugin.Database {
	alone := db.text("name") + ":" + strings.ToUpper(db.text("broker_guid"))
	if group := db.text("group_database_id"); group != "" {
		return plugin.Database{Identity: "group_database_id:" + strings.ToUpper(group), Alias: alone}
	}
	return plugin.Database{Identity: alone}
}

func display(db record) string {
	return fmt.Sprintf("%s on %s (SQL Server %s)", db.text("name"), db.text("server"), db.text("version"))
}

// databaseRow asks which database this is. Every login may see the row of the
// database that it is in (Microsoft: sys.databases).
func (c *conn) databaseRow(ctx context.Context) (record, error) {
	db, ok, err := c.one(ctx, tsql.Database())
	if err == nil && !ok {
		err = errors.New("the server does not say which database this is")
	}
	return db, err
}

// another is the error of a connection that leads elsewhere than those before
// it. As a diagnostic it is not tried again.
func (c connection) another(first, now origin) error {
	return diag.Errorf(diag.KindConfiguration, codeAnotherDatabase,
		fmt.Sprintf("It was %s, and is %s. Rows and positions of two databases must not be mixed, so nothing is read from this one. Check where the address leads to now (DNS, a proxy, a fail-over to a copy), then run again.", first.display, now.display),
		"The address %s led to the database %q before, and leads to %q now", c.server(), first.database.Identity, now.database.Identity).At(c.place).Err()
}
