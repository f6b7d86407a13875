package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pipectl/pipectl/internal/built"
)

// counterExample is a source that is no part of the program, a module of its own.
const counterExample = "../../examples/plugins/counter"

// counterProgram is the example's built file, of which each test takes a copy.
var counterProgram = sync.OnceValues(func() (string, error) {
	file := filepath.Join(filepath.Dir(binary), "counter")
	return file, built.Program(counterExample, file)
})

// thirdParty is a folder with the example's configuration and its built file.
type thirdParty struct {
	*testing.T
	program, dir string
}

func newThirdParty(t *testing.T) *thirdParty {
	t.Helper()
	p := &thirdParty{T: t, program: pipectl(t), dir: t.TempDir()}
	built, err := counterProgram()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(built)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.file(), program, 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(counterExample, "counter.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "counter.hcl"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *thirdParty) file() string { return filepath.Join(p.dir, "counter") }

func (p *thirdParty) digest() string {
	p.Helper()
	content, err := os.ReadFile(p.file())
	if err != nil {
		p.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// run carries out a command, which must exit with the code.
func (p *thirdParty) run(code int, args ...string) (stdout, stderr string) {
	p.Helper()
	cmd := exec.Command(p.program, args...)
	cmd.Dir = p.dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		p.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		p.Fatalf("pipectl %s exited with %d, not %d:\n%s%s", strings.Join(args, " "), got, code, out.String(), errs.String())
	}
	return out.String(), padding.ReplaceAllString(errs.String(), "$1  $2")
}

// rows are those of a table of the lake, sorted.
func (p *thirdParty) rows(table string) []string {
	p.Helper()
	out, _ := p.run(0, "table", "rows", "-json", filepath.Join("lake", table))
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	slices.Sort(lines)
	return lines
}

// same compares a table with what it must hold.
func (p *thirdParty) same(table string, want []string) {
	p.Helper()
	slices.Sort(want)
	if got := p.rows(table); !slices.Equal(got, want) {
		p.Errorf("%s holds\n%s\nnot\n%s", table, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// turned is the history of the counters as the example's text tells it: commit
// n sets counter (n-1) mod 10 + 1 to n. Batches end at the given commits.
func turned(ends ...int) (bronze, silver []string) {
	latest := map[int]string{}
	n := 0
	for batch, end := range ends {
		for n < end {
			n++
			id, operation := (n-1)%10+1, 2 // an insert
			if n > 10 {
				operation = 4 // an update, after
			}
			at := fmt.Sprintf("2026-01-01T00:00:%02d.000000", n)
			bronze = append(bronze, fmt.Sprintf(`{"_capture_instance":"counter","_start_lsn":"%020d","_seqval":null,"_operation":%d,"_command_id":null,"_commit_ts":"%s","id":%d,"value":%d,"_batch_id":%d,"_snapshot":null,"_chunk":null}`, n, operation, at, id, n, batch))
			latest[id] = fmt.Sprintf(`{"id":%d,"value":%d,"_start_lsn":"%020d","_commit_ts":"%s"}`, id, n, n, at)
		}
	}
	for _, row := range latest {
		silver = append(silver, row)
	}
	return bronze, silver
}

// TestThirdPartySourceFeedsBronzeAndSilver takes a source from outside through
// the same commands and the same sink and silver as SQL Server.
func TestThirdPartySourceFeedsBronzeAndSilver(t *testing.T) {
	t.Parallel()
	p := newThirdParty(t)
	p.run(0, "plugins", "lock", "counter.hcl")
	plan, _ := p.run(0, "plan", "counter.hcl")
	for _, line := range []string{
		"+ bronze.counters         create  2 columns + 9 of the pipeline",
		"+ silver.counters         create  2 columns + 2 of the pipeline, key id",
		"> stream.counters  start          changes from earliest",
	} {
		if !strings.Contains(plan, line) {
			t.Errorf("the plan lacks %q:\n%s", line, plan)
		}
	}
	p.run(0, "apply", "-yes", "counter.hcl")
	bronze, silver := turned(25)
	p.same("bronze/counters", bronze)
	p.same("silver/counters", silver)

	// Nothing new: nothing is written.
	p.run(0, "run", "counter.hcl")
	p.same("bronze/counters", bronze)

	p.run(0, "run", "-var", "commits=33", "counter.hcl")
	bronze, silver = turned(25, 33)
	p.same("bronze/counters", bronze)
	p.same("silver/counters", silver)

	// A source that has fewer commits than before has no answer to that; what
	// is there stays.
	p.run(0, "run", "counter.hcl")
	p.same("bronze/counters", bronze)
	p.same("silver/counters", silver)

	// What the plugin finds is placed in the text.
	_, stderr := p.run(3, "plan", "-var", "commits=1.5", "counter.hcl")
	if want := "in source \"counter\" \"hall\":"; !strings.Contains(stderr, want) || !strings.Contains(stderr, "commits is a whole number") {
		t.Errorf("a wrong argument is told as\n%s", stderr)
	}
}

// A stream that asks for what the source cannot do is refused before anything
// is made.
func TestThirdPartySourceWithoutSnapshots(t *testing.T) {
	t.Parallel()
	p := newThirdParty(t)
	path := filepath.Join(p.dir, "counter.hcl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const target = `target = "bronze.counters"`
	full := strings.Replace(string(text), target, target+"\n  bootstrap = \"full\"", 1)
	if err := os.WriteFile(path, []byte(full), 0o644); err != nil {
		t.Fatal(err)
	}
	p.run(0, "plugins", "lock", "counter.hcl")
	for _, args := range [][]string{{"validate"}, {"plan"}, {"apply", "-yes"}} {
		_, stderr := p.run(3, append(args, "counter.hcl")...)
		want := "Error: The source \"counter\" takes no snapshots  plugin.capability\n  on counter.hcl line 39, in stream \"counters\":\n  39:   bootstrap = \"full\"\n"
		if !strings.HasPrefix(stderr, want) {
			t.Errorf("pipectl %s says\n%s\nnot\n%s", args[0], stderr, want)
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "lake")); err == nil {
		t.Error("a lake was made")
	}
}

// So is a check of a source that cannot answer it; without the check all else
// works.
func TestThirdPartySourceThatCannotBeChecked(t *testing.T) {
	t.Parallel()
	p := newThirdParty(t)
	path := filepath.Join(p.dir, "counter.hcl")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	checked := strings.Replace(string(good), `silver  = { source = "pipectl/silver" }`, `silver  = { source = "pipectl/silver" }`+"\n"+`    reconcile = { source = "pipectl/reconcile" }`, 1) +
		"\ncheck \"reconcile\" \"counters\" {\n  silver = silver.counters\n}\n"
	if err := os.WriteFile(path, []byte(checked), 0o644); err != nil {
		t.Fatal(err)
	}
	p.run(0, "plugins", "lock", "counter.hcl")
	line := strings.Count(checked[:strings.Index(checked, "check \"reconcile\"")], "\n") + 1
	want := fmt.Sprintf("Error: The check \"reconcile\" cannot look at the source \"counter\", which counts no rows (aggregate) and does not read its tables (snapshot)  plugin.capability\n"+
		"  on counter.hcl line %d, in check \"reconcile\" \"counters\":\n  %d: check \"reconcile\" \"counters\" {\nRemove the check, or use a source plugin that can.\n", line, line)
	for _, args := range [][]string{{"validate"}, {"plan"}, {"plan", "-detailed-exitcode"}, {"apply", "-yes"}, {"run"}, {"check"}} {
		if _, stderr := p.run(3, append(args, "counter.hcl")...); stderr != want {
			t.Errorf("pipectl %s says\n%s\nnot\n%s", args[0], stderr, want)
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "lake")); err == nil {
		t.Error("a lake was made")
	}
	if err := os.WriteFile(path, good, 0o644); err != nil {
		t.Fatal(err)
	}
	p.run(0, "apply", "-yes", "counter.hcl")
	_, silver := turned(25)
	p.same("silver/counters", silver)
}

func TestThirdPartyPluginIsPinned(t *testing.T) {
	t.Parallel()
	p := newThirdParty(t)
	commands := [][]string{{"validate"}, {"plan"}, {"apply", "-yes"}, {"run"}, {"status"}}
	// Each is told where the text names the plugin.
	refused := func(summary, detail string) {
		t.Helper()
		want := "Error: " + summary + "\n  on counter.hcl line 8, in pipectl:\n  8:     counter = { source = \"./counter\" }\n" + detail
		for _, args := range commands {
			_, stderr := p.run(4, append(slices.Clone(args), "counter.hcl")...)
			if stderr != want {
				t.Errorf("pipectl %s says\n%s\nnot\n%s", args[0], stderr, want)
			}
		}
		if _, err := os.Stat(filepath.Join(p.dir, "lake")); err == nil {
			t.Error("a lake was made")
		}
	}
	refused("Plugin \"counter\" (counter) is not pinned  plugin.unlocked",
		"A file is run only when pipectl.lock.hcl pins its sha256. `pipectl plugins lock` pins the file as it is now.\n")

	p.run(0, "plugins", "lock", "counter.hcl")
	pinned := p.digest()
	p.run(0, "validate", "counter.hcl")

	// One more byte does no harm to the program, but it is another file.
	f, err := os.OpenFile(p.file(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("\n")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	refused(fmt.Sprintf("The file counter of plugin \"counter\" is not the pinned one: its sha256 is %s, pipectl.lock.hcl says %s  plugin.digest", p.digest(), pinned),
		"If the file was replaced on purpose, `pipectl plugins lock` pins the new one.\n")

	p.run(0, "plugins", "lock", "counter.hcl")
	p.run(0, "validate", "counter.hcl")

	if err := os.Remove(p.file()); err != nil {
		t.Fatal(err)
	}
	refused("The file counter of plugin \"counter\" does not exist  plugin.absent",
		"Build or copy it there, or correct the path in required_plugins.\n")
}
