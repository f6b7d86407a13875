package planner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
)

// Plugins opens sessions for the blocks of a configuration. A session lives
// until the command ends; asking twice gives the same one.
type Plugins interface {
	Source(ctx context.Context, a addr.Address) (plugin.Source, error)
	Tables(ctx context.Context, sink addr.Address) (plugin.Tables, error)
	Silver(ctx context.Context, a addr.Address) (plugin.Silver, error)
	Check(ctx context.Context, a addr.Address) (plugin.Check, error)
}

// Lake is one sink with what the core keeps in it.
type Lake struct {
	Sink   *model.Sink
	Tables plugin.Tables
	State  *state.Store
	Ledger *ledger.Ledger
	// Display says for people where it lies, as it is written.
	Display string
	// Where is Display with the whole path of a local root.
	Where string
	// relative tells that the place of the state is relative to the folder in
	// which pipectl was started.
	relative bool
	// statePlace is the place of the state, like Where.
	statePlace string
}

// LakeOptions are what a lake takes from the world.
type LakeOptions struct {
	// Clock is the wall clock; nil = time.Now.
	Clock func() time.Time
	// Warn hears warnings of the ledger; nil drops them.
	Warn func(diag.Diagnostic)
	// Gone reports whether the holder of a lock is known to have died; nil = never.
	Gone func(state.Holder) bool
}

// OpenLake opens the session of a sink, its state and its ledger. It changes
// nothing: state that does not exist yet is created by apply. So it is done again
// when a plugin dies meanwhile, as often as a plan is.
func OpenLake(ctx context.Context, cfg *model.Config, sink *model.Sink, plugins Plugins, opts LakeOptions) (*Lake, error) {
	for try := 1; ; try++ {
		lake, err := openLake(ctx, cfg, sink, plugins, opts)
		if try == tries || ctx.Err() != nil || !diag.HasCode(err, plugin.CodeCrashed) {
			return lake, err
		}
	}
}

func openLake(ctx context.Context, cfg *model.Config, sink *model.Sink, plugins Plugins, opts LakeOptions) (*Lake, error) {
	tables, err := plugins.Tables(ctx, sink.Addr)
	if err != nil {
		return nil, err
	}
	lake := &Lake{Sink: sink, Tables: tables, Display: displayOf(sink)}
	lake.Where, lake.relative = whole(lake.Display, rootOf(sink))
	objects := state.InSink(tables, lake.Display)
	if cfg.StatePath != "" {
		objects = state.InDirectory(cfg.StatePath)
	}
	lake.State, err = state.Open(ctx, objects, state.Options{Name: cfg.Name, Environment: cfg.Environment, Clock: opts.Clock, Gone: opts.Gone, Path: cfg.Path})
	if err != nil {
		return nil, placeEnvironment(cfg, sink, err)
	}
	if lake.statePlace = strings.TrimSuffix(lake.State.Place(), lake.Display) + lake.Where; cfg.StatePath != "" {
		lake.statePlace, lake.relative = whole(lake.State.Place(), cfg.StatePath)
	}
	lake.Ledger = ledger.New(tables, ledger.Options{Facts: sink.Facts, Control: sink.Control, Clock: opts.Clock, Warn: opts.Warn})
	return lake, nil
}

// placeEnvironment points at the argument of the pipectl block when the state
// is another environment's, or where it is to lie is no place; everything else is about the sink.
func placeEnvironment(cfg *model.Config, sink *model.Sink, err error) error {
	list := diag.FromError(err)
	if len(list) == 0 || list[0].Code != "state.environment" && list[0].Code != state.CodePath {
		return err
	}
	return cfg.Origin.Locate(sink.Addr, list).Err()
}

// displayOf shows where a sink lies: its root. A sensitive one is told by its
// line.
func displayOf(sink *model.Sink) string {
	if root := rootOf(sink); root != "" {
		return root
	}
	if !sink.Origin.Sensitive["root"] {
		return sink.Type
	}
	if at := sink.Origin.Place(diag.Path{"root"}); at != nil {
		return fmt.Sprintf("the root of %s line %d, which is sensitive", at.Filename, at.Start.Line)
	}
	return "a sensitive root"
}

// rootOf is where a sink lies, as every sink so far calls it; "" when it has no
// root, or one that must not be shown.
func rootOf(sink *model.Sink) string {
	body := sink.Body
	if body == cty.NilVal || body.IsNull() || !body.Type().IsObjectType() || !body.Type().HasAttribute("root") || sink.Origin.Sensitive["root"] {
		return ""
	}
	root, _ := body.GetAttr("root").Unmark()
	if root.IsNull() || root.Type() != cty.String {
		return ""
	}
	return root.AsString()
}

// whole is a place with the whole path in place of a relative one, and whether
// it was relative; a URL and an absolute path are whole.
func whole(place, path string) (string, bool) {
	if path == "" || strings.Contains(path, ":") || filepath.IsAbs(path) {
		return place, false
	}
	abs, err := filepath.Abs(place)
	if err != nil {
		return place, false
	}
	return abs, true
}

// NoState says for people that nothing was accepted in this lake yet and where
// that was looked for, since it may not be the lake that a person means; "" when
// there is a state.
func (l *Lake) NoState() string {
	if l.State.Lineage() != "" {
		return ""
	}
	text := "there is no state in " + l.statePlace
	if l.relative {
		text += "; a relative path begins in the folder in which pipectl is started"
	}
	return text
}

// planned is the lake as a plan names it.
func (l *Lake) planned(cfg *model.Config) plan.Place {
	place := plan.Place{Sink: l.Sink.Addr, Display: l.Where, NoState: l.NoState(), Digest: placeDigest(cfg, l.Sink)}
	if cfg.StatePath == "" { // one that lies elsewhere tells nothing of the lake
		place.Lineage = l.State.Lineage()
	}
	return place
}

// placeDigest tells the places of lakes apart. Of what the configuration's text
// and variables do not fix already it covers all that is not a credential: the
// root, which may be relative to the folder in which pipectl is started, the
// place of a state that is not in the lake, and what the environment gives other
// arguments, such as an endpoint.
func placeDigest(cfg *model.Config, sink *model.Sink) string {
	h := sha256.New()
	write := func(name, value string) { fmt.Fprintf(h, "%q=%q\n", name, value) }
	write("type", sink.Type)
	if cfg.StatePath != "" {
		write("state", cfg.StateOf(sink.Addr))
	}
	if sink.Body != cty.NilVal && !sink.Body.IsNull() {
		// The callback never fails, so neither does the walk.
		_ = cty.Walk(sink.Body, func(path cty.Path, v cty.Value) (bool, error) {
			if !v.IsKnown() || v.IsNull() || v.Type() != cty.String {
				return true, nil
			}
			if len(path) == 1 && path[0] == (cty.GetAttrStep{Name: "root"}) {
				write("root", cfg.Lake(sink.Addr))
			} else if slices.Contains(cfg.Secrets, v.AsString()) {
				write(fmt.Sprintf("%#v", path), v.AsString())
			}
			return true, nil
		})
	}
	return hex.EncodeToString(h.Sum(nil))
}
