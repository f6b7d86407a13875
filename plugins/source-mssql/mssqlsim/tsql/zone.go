package tsql

import (
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// windowsZones are the Windows time zone names the simulator knows, with the IANA zone whose rules it uses for them
// (Unicode CLDR: windowsZones). SQL Server uses the Windows registry, which may differ in past years.
var windowsZones = map[string]string{
	"UTC": "UTC", "GMT Standard Time": "Europe/London", "Greenwich Standard Time": "Atlantic/Reykjavik", "W. Europe Standard Time": "Europe/Berlin",
	"Central Europe Standard Time": "Europe/Budapest", "Central European Standard Time": "Europe/Warsaw", "Romance Standard Time": "Europe/Paris",
	"E. Europe Standard Time": "Europe/Chisinau", "FLE Standard Time": "Europe/Kiev", "GTB Standard Time": "Europe/Bucharest", "Russian Standard Time": "Europe/Moscow",
	"Turkey Standard Time": "Europe/Istanbul", "Israel Standard Time": "Asia/Jerusalem", "Arabian Standard Time": "Asia/Dubai", "India Standard Time": "Asia/Calcutta",
	"Nepal Standard Time": "Asia/Katmandu", "China Standard Time": "Asia/Shanghai", "Singapore Standard Time": "Asia/Singapore", "Tokyo Standard Time": "Asia/Tokyo",
	"AUS Eastern Standard Time": "Australia/Sydney", "E. Australia Standard Time": "Australia/Brisbane", "Cen. Australia Standard Time": "Australia/Adelaide",
	"New Zealand Standard Time": "Pacific/Auckland", "Hawaiian Standard Time": "Pacific/Honolulu", "Alaskan Standard Time": "America/Anchorage",
	"Pacific Standard Time": "America/Los_Angeles", "Mountain Standard Time": "America/Denver", "Central Standard Time": "America/Chicago", "Eastern Standard Time": "America/New_York",
	"Atlantic Standard Time": "America/Halifax", "Newfoundland Standard Time": "America/St_Johns", "E. South America Standard Time": "America/Sao_Paulo",
	"Argentina Standard Time": "America/Buenos_Aires", "SA Eastern Standard Time": "America/Cayenne", "South Africa Standard Time": "Africa/Johannesburg", "Egypt Standard Time": "Africa/Cairo",
}

// Zone gives the rules of a Windows time zone.
func Zone(name string) (*time.Location, error) {
	if n, ok := windowsZones[name]; ok {
		return time.LoadLocation(n)
	}
	return nil, sqltype.Errorf(9820, "The time zone parameter '%s' provided to AT TIME ZONE clause is invalid.", name)
}

func (r *run) zone(name string) (*time.Location, error) {
	if r.zones == nil {
		r.zones = map[string]*time.Location{}
	}
	if l := r.zones[name]; l != nil {
		return l, nil
	}
	l, err := Zone(name)
	r.zones[name] = l
	return l, err
}

// InZone reads ticks of a local clock in a zone: the UTC ticks and the offset. A repeated time takes the offset
// before the change; one that was skipped moves forward by the change ("Microsoft: AT TIME ZONE (Transact-SQL)").
func InZone(local int64, loc *time.Location) (utc int64, minutes int) {
	offset := func(utc int64) int64 {
		_, o := sqltype.TimeOf(utc).In(loc).Zone()
		return int64(o) * sqltype.TicksPerSecond
	}
	// The offset some hours before is the one before any change near this time: it wins when it fits.
	before := offset(local - 14*60*sqltype.TicksPerMinute)
	for _, o := range []int64{before, offset(local - before), offset(local + 14*60*sqltype.TicksPerMinute)} {
		if offset(local-o) == o {
			return local - o, int(o / sqltype.TicksPerMinute)
		}
	}
	// skipped: the instant by the old offset, shown with the new one
	utc = local - before
	return utc, int(offset(utc) / sqltype.TicksPerMinute)
}
