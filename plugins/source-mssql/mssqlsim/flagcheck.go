package mssqlsim

import (
	"flag"
	"fmt"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// wrong tells which flag of the program is wrong and what it takes; "" is none.
func (p *program) wrong(fs *flag.FlagSet) string {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if fs.NArg() > 0 {
		return fmt.Sprintf("%q is no flag: there are no arguments besides the flags", fs.Arg(0))
	}
	switch p.options.Version {
	case V2016, V2017, V2019, V2022, Azure:
	default:
		return fmt.Sprintf("-version %q is not one of 2016, 2017, 2019, 2022, azure", p.options.Version)
	}
	switch p.options.TLS {
	case TLSOff, TLSLogin, TLSOn, TLSStrict:
	default:
		return fmt.Sprintf("-tls %q is not one of off, login, on, strict", p.options.TLS)
	}
	if p.options.TLS == TLSStrict && !knowsStrict(p.options.Version) {
		return fmt.Sprintf("-tls strict does not go with -version %s: strict encryption came with 2022", p.options.Version)
	}
	switch p.options.Capture {
	case "", CaptureAtOnce:
	case CapturePolls:
		if p.history != "" {
			return "-capture poll does not go with -history, which says itself when what is captured"
		}
	default:
		return fmt.Sprintf("-capture %q is not one of poll, commit", p.options.Capture)
	}
	if _, err := tsql.Zone(p.options.Zone); err != nil || p.options.Zone == "" {
		return fmt.Sprintf("-zone %q is not the Windows name of a time zone, such as UTC or W. Europe Standard Time", p.options.Zone)
	}
	switch {
	case p.database == "":
		return "-database needs the name of a database"
	case p.options.Password == "":
		return "-password needs a password: sa has one, which is " + DefaultPassword + " without the flag"
	case p.stepwise && p.history == "":
		return "-stepwise needs -history"
	case p.workload != "" && p.workload != "orders":
		return fmt.Sprintf("-workload %q is none: the only workload is orders", p.workload)
	case p.load.Rows < 0:
		return fmt.Sprintf("-rows %d is below 0", p.load.Rows)
	case p.load.Rate < 0:
		return fmt.Sprintf("-rate %d is below 0", p.load.Rate)
	case p.options.Memory <= 0 || p.options.Memory>>20 > 1<<40:
		return "-memory needs a number of MiB above 0"
	case p.certificate != "" && p.options.TLS == TLSOff:
		return "-certificate needs -tls: a server that does not encrypt has none"
	}
	for _, name := range []string{"rate", "rows", "seed"} {
		if given[name] && p.workload == "" {
			return "-" + name + " needs -workload"
		}
	}
	return ""
}
