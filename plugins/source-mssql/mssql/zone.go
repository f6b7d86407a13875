package mssql

import (
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// zoneAdvice says which names SQL Server takes (Microsoft: AT TIME ZONE; the
// list is that of the Windows registry).
const zoneAdvice = `SQL Server knows zones by their Windows names, such as "W. Europe Standard Time". SELECT name FROM sys.time_zone_info lists them.`

// parseZone checks the name of a zone as far as that goes without a server: auto,
// UTC, or a name that Windows may have.
func parseZone(name string) (string, *diag.Diagnostic) {
	switch {
	case name == "", strings.EqualFold(name, "auto"):
		return "auto", nil
	case strings.EqualFold(name, "UTC"):
		return "UTC", nil
	}
	if err := tsql.CheckZone(name); err != nil {
		d := configError(argZone, zoneAdvice, "%s", err)
		return "", &d
	}
	if ianaName(name) {
		d := configError(argZone, zoneAdvice, "%q is no name of a Windows time zone but one of the IANA database", name)
		return "", &d
	}
	return name, nil
}

// ianaName reports whether a name has the form of the IANA time zone database:
// Europe/Berlin, CET, EST5EDT. Windows names are several words, without a
// slash, or UTC with an offset: UTC-02 (Microsoft: Default time zones).
func ianaName(name string) bool {
	if strings.Contains(name, "/") {
		return true
	}
	return !strings.Contains(name, " ") && !strings.HasPrefix(strings.ToUpper(name), "UTC")
}

// unknownZone is what the server's error 9820 means: it has no such zone.
func (c connection) unknownZone(said string) error {
	d := configError(argZone, zoneAdvice+" The server says: "+said, "The server knows no time zone %q", c.zone)
	d.Data = map[string]string{"said": said}
	return d.Err()
}
