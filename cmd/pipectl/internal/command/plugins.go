package command

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/bundled"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/view"
	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin/host"
	"github.com/pipectl/pipectl/dsl"
)

// plugins lists the plugins in use, or pins third-party files in the lock file.
func plugins(_ context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParsePlugins(args)
	if err != nil {
		return 0, err
	}
	e.Streams.JSON = a.JSON
	files, list := dsl.Load(a.Path, e.options(a.Common, true))
	if files == nil {
		return e.fail(list.Err(), nil), nil
	}
	if err := list.Err(); err != nil {
		return e.fail(err, files.Excerpt), nil
	}
	lock, list := dsl.ReadLock(files.LockPath())
	if err := list.Err(); err != nil {
		return e.fail(err, nil), nil
	}
	dir := filepath.Dir(files.LockPath())
	fresh := &dsl.Lock{}
	var rows []view.PluginRow
	for _, p := range files.RequiredPlugins() {
		if slices.Contains(bundled.Sources(), p.Source) {
			rows = append(rows, view.PluginRow{Name: p.Name, Source: p.Source, State: "bundled"})
			continue
		}
		path := p.Source
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		digest, err := host.Digest(path)
		if err != nil {
			return e.fail(p.Origin.Locate(addr.Address{}, diag.List{diag.Errorf(diag.KindUnavailable, "plugin.file",
				"Build it, then lock it.", "The file of plugin %q cannot be read: %v", p.Name, err)}).Err(), files.Excerpt), nil
		}
		entry := dsl.LockedPlugin{Name: p.Name, Source: p.Source, SHA256: []string{digest}}
		known, locked := lock.Plugin(p.Name)
		word := "not locked"
		switch {
		case locked && known.Allows(digest):
			word, entry.SHA256 = "locked", known.SHA256
		case locked:
			word = "differs from the lock"
		}
		if a.Verb == "lock" {
			word = "locked"
		}
		fresh.Plugins = append(fresh.Plugins, entry)
		rows = append(rows, view.PluginRow{Name: p.Name, Source: p.Source, State: word, SHA256: digest})
	}
	if err := e.Streams.Plugins(rows); err != nil {
		return 0, err
	}
	if a.Verb == "list" {
		return exit.Done, nil
	}
	const mode fs.FileMode = 0o644
	if err := replaceFile(files.LockPath(), fresh.Text(), mode); err != nil {
		return 0, diag.Errorf(diag.KindUnavailable, "plugin.lock", "", "The lock file was not written: %v", err).Err()
	}
	e.Streams.Logf("Wrote %s. Commit it with the configuration.\n", strings.TrimPrefix(files.LockPath(), "./"))
	return exit.Done, nil
}
