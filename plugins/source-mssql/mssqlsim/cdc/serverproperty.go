package cdc

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// property is SERVERPROPERTY. It answers text, where a server answers sql_variant: clients cast it. NULL is what a server
// says of a name that is none, so that names of the page that the simulator has no answer for are refused (Microsoft:
// SERVERPROPERTY (Transact-SQL)).
func (s *Session) property(name sqltype.Value) (sqltype.Value, error) {
	v := productVersions[s.srv.Version]
	var major, minor, build int
	if _, err := fmt.Sscanf(v, "%d.%d.%d", &major, &minor, &build); err != nil {
		return null, err
	}
	azure := s.srv.Version == Azure
	switch n := lower(name.Str()); n {
	case "productversion":
		return text(v), nil
	case "productmajorversion":
		return text(fmt.Sprint(major)), nil
	case "productminorversion":
		return text(fmt.Sprint(minor)), nil
	case "productbuild":
		return text(fmt.Sprint(build)), nil
	case "productlevel":
		if s.srv.Version == V2016 { // whose build is of its third service pack
			return text("SP3"), nil
		}
		return text("RTM"), nil
	case "edition":
		if azure {
			return text("SQL Azure"), nil
		}
		return text("Developer Edition (64-bit)"), nil
	case "editionid":
		if azure {
			return text("1674378470"), nil
		}
		return text("-2117995310"), nil
	case "engineedition":
		if azure {
			return text("5"), nil
		}
		return text("3"), nil
	case "servername", "machinename", "computernamephysicalnetbios":
		return text(s.srv.Name), nil
	case "collation":
		return text(sqltype.DefaultCollation), nil
	case "lcid":
		return text("1033"), nil
	case "licensetype": // not maintained by the product
		return text("DISABLED"), nil
	case "processid":
		return text(fmt.Sprint(os.Getpid())), nil
	case "ishadrenabled", "isclustered", "isintegratedsecurityonly", "isxtpsupported", "isfulltextinstalled", "issingleuser", "islocaldb",
		"ispolybaseinstalled", "isadvancedanalyticsinstalled", "isbigdatacluster", "istempdbmetadatamemoryoptimized", "isexternalauthenticationonly",
		"isserversuspendedforsnapshotbackup", "suspendeddatabasecount", "filestreamconfiguredlevel", "filestreameffectivelevel":
		return text("0"), nil
	case "instancename", "numlicenses", "filestreamsharename": // a default instance has no name, licenses are not maintained
		return null, nil
	default:
		if slices.Contains(strings.Fields(unansweredProperties), n) {
			return null, sqltype.Unsupported("SERVERPROPERTY of %s", name.Str())
		}
	}
	return null, nil
}

// unansweredProperties are names of the page without an answer.
const unansweredProperties = `buildclrversion collationid comparisonstyle errorlogfilename hadrmanagerstatus instancedefaultbackuppath
	instancedefaultdatapath instancedefaultlogpath isexternalgovernanceenabled pathseparator productbuildtype productupdatelevel
	productupdatereference productupdatetype resourcelastupdatedatetime resourceversion sqlcharset sqlcharsetname sqlsortorder sqlsortordername`
