package model

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
)

// stateFolder is where a sink holds the state, below its root.
const stateFolder = "_pipectl"

// plansSuffix ends the name of the table that holds the plans of a bronze
// table's snapshots.
const plansSuffix = "_snapshot_plans"

// Writer is what puts files into one folder of a lake.
type Writer struct {
	// Words name it in messages: "stream.orders", "the facts of sink.lake".
	Words string
	// Addr is the block that it comes from, the zero Address for the state of
	// state { path }; Path is the attribute of it that names the folder.
	Addr   addr.Address
	Path   diag.Path
	Origin Origin
	// Sink is the zero Address for the state of state { path }.
	Sink addr.Address
	// Target is the dotted name of the table, "" for the state.
	Target string
	// Folder is the place below the sink's root, for messages.
	Folder string
	// Place tells whether two folders are one: an absolute path or a URL with
	// slashes between its parts. It may hold what is sensitive.
	Place string
	// State tells the state from tables. Beside is a table that comes with the
	// one of the same block, in a folder that is named after it.
	State, Beside bool
}

// Writers lists everything that this configuration itself says is written:
// state, facts and control of the sinks, then bronze tables with the tables of
// their snapshots' plans, then silver tables. What plugins write besides, such
// as the report of a check, is known to the planner only.
//
// Places are compared by their text: a symbolic link, a second URL of one
// bucket, or names that differ only in case on a file system that takes them
// for one are not seen.
func (c *Config) Writers() []Writer {
	var out []Writer
	if c.StatePath != "" {
		out = append(out, Writer{Words: "the state of this configuration", Path: diag.Path{"state", "path"}, Origin: c.Origin,
			Folder: c.StatePath, Place: join(lakePlace(c.StatePath), c.Name), State: true})
	}
	for _, s := range c.Sinks {
		if c.StatePath == "" {
			w := c.writer(s.Addr, "the state in "+s.Addr.String(), s.Addr, s.Origin, "", stateFolder, diag.Path{"root"})
			w.State = true
			out = append(out, w)
		}
		out = append(out,
			c.writer(s.Addr, "the facts of "+s.Addr.String(), s.Addr, s.Origin, s.Facts, "", diag.Path{"ledger", "facts"}),
			c.writer(s.Addr, "the control table of "+s.Addr.String(), s.Addr, s.Origin, s.Control, "", diag.Path{"ledger", "control"}))
	}
	for _, s := range c.Streams {
		path := diag.Path{"target"}
		if s.Path != "" {
			path = diag.Path{"path"}
		}
		w := c.writer(s.To, s.Addr.String(), s.Addr, s.Origin, s.Target, s.Path, path)
		plans := w
		plans.Words, plans.Target = "the plans of the snapshots of "+w.Words, w.Target+plansSuffix
		plans.Folder, plans.Place, plans.Beside = w.Folder+plansSuffix, w.Place+plansSuffix, true
		out = append(out, w, plans)
	}
	for _, s := range c.Silvers {
		path := diag.Path{"target"}
		if s.Path != "" {
			path = diag.Path{"path"}
		}
		out = append(out, c.writer(s.To, s.Addr.String(), s.Addr, s.Origin, s.Target, s.Path, path))
	}
	return out
}

func (c *Config) writer(sink addr.Address, words string, a addr.Address, origin Origin, target, folder string, attribute diag.Path) Writer {
	w := Writer{Words: words, Addr: a, Path: attribute, Origin: origin, Sink: sink, Target: target}
	w.Folder, w.Place = c.place(sink, target, folder)
	return w
}

// TableWriter is the writer of a table that a plugin asks for, such as the
// report of the check with the address.
func (c *Config) TableWriter(a addr.Address, origin Origin, sink addr.Address, target, folder string) Writer {
	return c.writer(sink, a.String(), a, origin, target, folder, nil)
}

// place is the folder of a table below its sink's root, which is its path, else
// its dotted name as folders, and that folder with the root. Every sink names
// tables so; one that does not keeps its tables apart all the more.
func (c *Config) place(sink addr.Address, target, folder string) (below, whole string) {
	below = folder
	if below == "" {
		below = strings.ReplaceAll(target, ".", "/")
	}
	below = strings.TrimPrefix(path.Clean("/"+below), "/")
	return below, join(c.Lake(sink), below)
}

func join(root, below string) string { return strings.TrimSuffix(root, "/") + "/" + below }

// Lake tells whether two sinks are one lake: it is the same text for them. It
// may hold what is sensitive.
func (c *Config) Lake(sink addr.Address) string {
	s := c.Sink(sink)
	if s == nil || s.Body == cty.NilVal || !s.Body.IsWhollyKnown() || s.Body.IsNull() || !s.Body.Type().IsObjectType() {
		return "\x00" + sink.String()
	}
	if s.Body.Type().HasAttribute("root") {
		if root := s.Body.GetAttr("root"); !root.IsNull() && root.Type() == cty.String {
			return lakePlace(root.AsString())
		}
	}
	// What the arguments mean is the plugin's; where they are the same, so is
	// the lake.
	return fmt.Sprintf("\x00%s %#v", s.Type, s.Body)
}

// StateOf tells whether the streams of two sinks keep their state in one
// place: it is the same text for them.
func (c *Config) StateOf(sink addr.Address) string {
	if c.StatePath != "" {
		return lakePlace(c.StatePath)
	}
	return c.Lake(sink)
}

// lakePlace is the one form of a folder or URL: an absolute path with slashes,
// or a URL whose scheme and host are in lower case.
func lakePlace(root string) string {
	if scheme, _, ok := strings.Cut(root, ":"); ok && len(scheme) > 1 && !strings.ContainsAny(scheme, `/\`) {
		u, err := url.Parse(root)
		if err != nil || u.Opaque != "" {
			return root
		}
		at := path.Clean("/" + u.Path)
		if u.Scheme == "file" {
			if drive := strings.TrimPrefix(at, "/"); filepath.VolumeName(drive) != "" { // file:///C:/lake
				return drive
			}
			return at
		}
		host := strings.ToLower(u.Host)
		if u.User != nil { // abfss://container@account
			host = u.User.Username() + "@" + host
		}
		return u.Scheme + "://" + host + at
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return root
	}
	return filepath.ToSlash(abs)
}

// Overlap is how the folders of two writers meet.
type Overlap int

// Ways in which two folders meet.
const (
	// Apart folders have no file in common.
	Apart Overlap = iota
	// Same folders are one.
	Same
	// Inside: the first lies in the second.
	Inside
	// Around: the second lies in the first.
	Around
)

// Meets tells how the folders of two writers meet. The state may be shared;
// two tables beside others meet when those do, which is all there is to say.
func (w Writer) Meets(other Writer) Overlap {
	switch {
	case w.Place == other.Place && (w.State && other.State || w.Beside && other.Beside):
		return Apart
	case w.Place == other.Place:
		return Same
	case strings.HasPrefix(w.Place, other.Place+"/"):
		return Inside
	case strings.HasPrefix(other.Place, w.Place+"/"):
		return Around
	}
	return Apart
}
