package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pipectl/pipectl/cmd/pipectl/internal/cli"
	"github.com/pipectl/pipectl/cmd/pipectl/internal/exit"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plan"
	"github.com/pipectl/pipectl/core/quantity"
	"github.com/pipectl/pipectl/dsl"
)

// validate checks a configuration without an environment and without a
// server.
func validate(ctx context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParsePlain("validate", args)
	if err != nil {
		return 0, err
	}
	e.Streams.JSON = a.JSON
	w, err := open(ctx, e, a.Common, true)
	defer w.close()
	list := append(diag.FromError(err), w.warnings...).Unique()
	if a.JSON {
		return exit.OfList(list), e.Streams.WriteJSON(struct {
			Valid       bool                  `json:"valid"`
			Diagnostics []plan.JSONDiagnostic `json:"diagnostics"`
		}{!list.HasErrors(), plan.Diagnostics(list)})
	}
	e.Streams.Diagnostics(list, w.excerpt)
	if list.HasErrors() {
		return exit.OfList(list), nil
	}
	c := w.config
	e.Streams.Printf("%s is valid: %s, %s, %s, %s, %s, %s.\n", a.Path, quantity.Of(len(c.Sources), "source", "sources"),
		quantity.Of(len(c.Sinks), "sink", "sinks"), quantity.Of(len(c.Tables), "table", "tables"), quantity.Of(len(c.Streams), "stream", "streams"),
		quantity.Of(len(c.Silvers), "silver", "silvers"), quantity.Of(len(c.Checks), "check", "checks"))
	return exit.Done, nil
}

// format writes files in the one form.
func format(_ context.Context, e *Environment, args []string) (int, error) {
	a, err := cli.ParseFormat(args)
	if err != nil {
		return 0, err
	}
	code := exit.Done
	for _, path := range a.Paths {
		names, err := hclFiles(path)
		if err != nil {
			return 0, diag.Errorf(diag.KindConfiguration, "fmt.file", "Name a folder that holds *.hcl files, or files.", "%s cannot be read: %v", path, err).Err()
		}
		for _, name := range names {
			content, err := os.ReadFile(name)
			if err != nil {
				return 0, diag.Errorf(diag.KindConfiguration, "fmt.file", "Check who may read it.", "%s cannot be read: %v", name, err).Err()
			}
			changed, err := formatFile(e, name, content, a)
			if err != nil {
				return e.fail(err, func(r diag.Range) string { return dsl.Excerpt(content, r) }), nil
			}
			if changed && a.Check {
				code = exit.Failed
			}
		}
	}
	return code, nil
}

func hclFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var names []string
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() && name != path {
			return filepath.SkipDir // a folder is one configuration
		}
		if !entry.IsDir() && strings.HasSuffix(base, ".hcl") && !strings.HasPrefix(base, ".") {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

func formatFile(e *Environment, name string, before []byte, a cli.Format) (changed bool, err error) {
	after, list := dsl.FormatFile(name, before)
	if err := list.Err(); err != nil {
		return false, err
	}
	if string(after) == string(before) {
		return false, nil
	}
	e.Streams.Printf("%s\n", name)
	if a.Diff {
		e.Streams.Text(string(dsl.Diff(name, before, after)))
	}
	if a.Check {
		return true, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return true, fmt.Errorf("formatting %s: %w", name, err)
	}
	return true, replaceFile(name, after, info.Mode().Perm())
}

// replaceFile writes a file anew under its name, whole or not at all.
func replaceFile(name string, content []byte, mode fs.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(name), ".pipectl-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Chmod(mode), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		os.Remove(temp.Name())
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
