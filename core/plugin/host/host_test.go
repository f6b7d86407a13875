package host_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/host"
)

func sdkError(secret string) error {
	d := diag.Errorf(diag.KindPermission, "odd.login", "Was it "+secret+"?", "Login failed for %s", secret)
	d.Data = map[string]string{"dsn": "server=x;password=" + secret}
	return d.Err()
}

func TestACrashIsOneTransientDiagnosticAndTheNextCallFindsANewProcess(t *testing.T) {
	t.Parallel()
	p := startOne(t, quick())
	source := openSource(t, p, "hunter2!")
	first, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "pid"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "exit"})
	list := diag.FromError(err)
	if len(list) != 1 || list[0].Kind != diag.KindTransient || list[0].Code != "plugin.crashed" {
		t.Fatalf("diagnostics %+v", list)
	}
	if !strings.Contains(list[0].Summary, `"shop"`) || !strings.Contains(list[0].Summary, "exit status 3") {
		t.Errorf("summary %q", list[0].Summary)
	}
	if !strings.Contains(list[0].Detail, "about to go\n[error] the last words password=(sensitive)") {
		t.Errorf("detail %q", list[0].Detail)
	}
	second, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "pid"})
	if err != nil || second == first || p.Restarts() != 1 {
		t.Fatalf("pid %v after %v, %d restarts, %v", second, first, p.Restarts(), err)
	}
}

func TestAPanicShowsWhereItBegan(t *testing.T) {
	t.Parallel()
	source := openSource(t, startOne(t, quick()), "hunter2!")
	_, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "panic"})
	list := diag.FromError(err)
	if len(list) != 1 || !strings.Contains(list[0].Detail, "panic: boom in a goroutine with (sensitive)") || !strings.Contains(list[0].Detail, "goroutine ") {
		t.Fatalf("diagnostics %+v", list)
	}
}

func TestAPluginIsStartedAgainTwice(t *testing.T) {
	t.Parallel()
	source := openSource(t, startOne(t, quick()), "")
	for range 3 {
		if _, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "exit"}); !diag.Is(err, diag.KindTransient) {
			t.Fatalf("error %v", err)
		}
	}
	for range 2 {
		_, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "earliest"})
		if !diag.Is(err, diag.KindUnavailable) || !strings.Contains(err.Error(), "3 times") || !strings.Contains(err.Error(), "the last words") {
			t.Fatalf("error %v", err)
		}
	}
}

// A watch goes on for weeks: crashes count together only when no process lived
// for an hour in between. What matters is its life, not when somebody noticed
// its end.
func TestAnHourOfHealthForgetsRestarts(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	options := quick()
	options.Clock = func() time.Time { return time.Unix(now.Load(), 0) }
	p := startOne(t, options)
	source := openSource(t, p, "")
	crash := func() {
		t.Helper()
		if _, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "exit"}); !diag.Is(err, diag.KindTransient) {
			t.Fatalf("error %v", err)
		}
	}
	for range 3 {
		crash()
		if _, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "pid"}); err != nil {
			t.Fatal(err) // it was started again
		}
		now.Add(3600)
	}
	for range 3 {
		crash()
		now.Add(3600) // nothing lives by now
	}
	if _, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "pid"}); !diag.Is(err, diag.KindUnavailable) || !strings.Contains(err.Error(), "3 times") {
		t.Fatalf("error %v", err)
	}
	if n := p.Restarts(); n != 5 {
		t.Errorf("%d restarts", n)
	}
}

func TestAWriteDoesNotOutliveItsProcess(t *testing.T) {
	t.Parallel()
	p := startOne(t, quick())
	source := openSource(t, p, "")
	tables, err := p.OpenTables(t.Context(), open(""))
	if err != nil {
		t.Fatal(err)
	}
	begin := func() plugin.BeginWriteResponse {
		t.Helper()
		ref := plugin.TableRef{Name: "bronze.orders"}
		if _, err := tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref, Schema: ordersSchema}}); err != nil {
			t.Fatal(err)
		}
		begun, err := tables.BeginWrite(t.Context(), plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteAppend, Schema: ordersSchema, BaseVersion: -1})
		if err != nil {
			t.Fatal(err)
		}
		return begun
	}
	old := begin()
	if _, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "exit"}); !diag.Is(err, diag.KindTransient) {
		t.Fatalf("error %v", err)
	}
	current := begin()
	if old.WriteID == current.WriteID {
		t.Fatalf("two writes are %q", old.WriteID)
	}
	if _, err := tables.Commit(t.Context(), plugin.CommitRequest{WriteID: old.WriteID}); !diag.Is(err, diag.KindTransient) || !strings.Contains(err.Error(), "exit status") {
		t.Errorf("a lost write answers %v, which does not say how its plugin ended", err)
	}
	if _, err := tables.Commit(t.Context(), plugin.CommitRequest{WriteID: current.WriteID}); err != nil {
		t.Error(err)
	}
}

func TestCancellingACallCancelsItInThePlugin(t *testing.T) {
	t.Parallel()
	environ, accept := line(t)
	options := quick()
	options.Environ = environ
	p := startOne(t, options, lineVariable)
	said := accept()
	source := openSource(t, p, "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := source.Start(ctx, plugin.StartRequest{Table: orders, From: "hang"})
		done <- err
	}()
	if got := hear(t, said); got != "hanging" {
		t.Fatalf("heard %q", got)
	}
	cancel()
	if got := hear(t, said); got != "cancelled" {
		t.Fatalf("heard %q", got)
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if p.Restarts() != 0 {
		t.Error("a cancelled call counts as a crash")
	}
}

func TestAPluginSeesAListOfVariables(t *testing.T) {
	t.Parallel()
	options := quick()
	options.Environ = func() []string {
		return []string{"PATH=/bin", "HOME=/home/x", "TZ=UTC", "https_proxy=p", "SECRET=s", "AWS_REGION=eu", "AWSX=no", "MINE=m", "SSL_CERT_FILE=/c",
			"GOGC=50", "GOMEMLIMIT=900MiB", "GODEBUG=gctrace=0"}
	}
	source := openSource(t, startOne(t, options, "AWS_*", "MINE"), "")
	got, err := source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "environment"})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for entry := range strings.SplitSeq(got.Text, "\n") {
		if name, _, _ := strings.Cut(entry, "="); !strings.HasPrefix(name, "PLUGIN_") && !strings.HasPrefix(name, "PIPECTL_") {
			seen = append(seen, entry)
		}
	}
	slices.Sort(seen)
	want := []string{"AWS_REGION=eu", "GOGC=50", "GOMEMLIMIT=900MiB", "HOME=/home/x", "MINE=m", "PATH=/bin", "SSL_CERT_FILE=/c", "TZ=UTC", "https_proxy=p"}
	if !slices.Equal(seen, want) {
		t.Fatalf("the plugin sees %q, want %q", seen, want)
	}
}

// locked is a writer for several goroutines.
type locked struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func TestSecretsAreMaskedInWhateverAPluginPrints(t *testing.T) {
	t.Parallel()
	logged := &locked{}
	options := quick()
	options.Logger = hclog.New(&hclog.LoggerOptions{Output: logged, Level: hclog.Debug})
	h := host.New(options)
	plugins, err := h.Start(t.Context(), []host.Spec{{Name: "shop", Source: "test/odd"}})
	if err != nil {
		t.Fatal(err)
	}
	source := openSource(t, plugins["shop"], "hunter2!")
	_, err = source.Start(t.Context(), plugin.StartRequest{Table: orders, From: "print"})
	if !diag.Is(err, diag.KindPermission) || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "Login failed for (sensitive): Was it (sensitive)?") {
		t.Errorf("error %v", err)
	}
	if data := diag.FromError(err)[0].Data["dsn"]; data != "server=x;password=(sensitive)" {
		t.Errorf("data %q", data)
	}
	h.Stop() // all lines have come
	text := logged.String()
	if strings.Contains(text, "hunter2") {
		t.Errorf("the log tells the password:\n%s", text)
	}
	for _, want := range []string{"printed (sensitive)", "to stderr (sensitive)", "logged (sensitive)", "sqlserver://sa:(sensitive)@db"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %q:\n%s", want, text)
		}
	}
}

// A value that no schema calls sensitive, such as the root of a lake from
// env(), is masked in the forms in which it is printed; a short word is no part
// of another.
func TestValuesAreMaskedBeyondTheSchemas(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs("kept")
	if err != nil {
		t.Fatal(err)
	}
	above := filepath.Dir(here) // the working folder
	for _, c := range []struct{ value, text, want string }{
		// An error may name a folder above the place instead of the place.
		{"./kept_secret99/lake", "no folder: " + filepath.Join(above, "kept_secret99") + ", kept_secret99: x", "no folder: (sensitive), (sensitive): x"},
		{"./kept_secret99/lake", "cannot use " + above, "cannot use " + above},
		{"a/kept_secret99/b/c", "mkdir a/kept_secret99: x", "mkdir (sensitive): x"},
		{"../../kept_secret99/lake", "stat ../../kept_secret99: x", "stat ../../(sensitive): x"},
		{"/mnt/kept_secret99/b/lake/", "mkdir /mnt/kept_secret99: x, /mnt/y", "mkdir (sensitive): x, /mnt/y"},
		{"/kept_secret99/lake", "mkdir /kept_secret99: x", "mkdir (sensitive): x"},
		{"/home/lake", "in /home/other", "in /home/other"},
		{"s3://bucket-of-mine/kept_secret99/lake", "no prefix /kept_secret99/", "no prefix (sensitive)/"},
		{"./kept/lake", "open " + filepath.Join(here, "lake") + "/bronze: no such file", "open (sensitive)/bronze: no such file"},
		{"./kept/lake/", "in kept/lake: x", "in (sensitive): x"},
		{"./lake", "in ./lake and lake/bronze, not in lakes", "in (sensitive) and (sensitive)/bronze, not in lakes"},
		{"s3://bucket-of-mine/deep/", "no bucket bucket-of-mine, key deep, /deep/x", "no bucket (sensitive), key deep, (sensitive)/x"},
		{"db", "no host 'db', table dbo.orders in db", "no host '(sensitive)', table dbo.orders in (sensitive)"},
		{"db.example.org", "lookup xdb.example.org", "lookup x(sensitive)"},
		{"", "nothing", "nothing"},
		{"/", "a/b", "a/b"},
	} {
		if got := host.Masked(c.text, c.value); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.value, c.text, got, c.want)
		}
	}
}

func TestAFileIsRunOnlyWhenItIsThePinnedOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine"), self, 0o755); err != nil {
		t.Fatal(err)
	}
	digest, err := host.Digest(filepath.Join(dir, "mine"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ source, digest, code, says string }{
		"absent":      {"./none", digest, "plugin.absent", "does not exist"},
		"not pinned":  {"./mine", "", "plugin.unlocked", "pipectl plugins lock"},
		"another one": {"./mine", strings.Repeat("0", 64), "plugin.digest", digest},
		"not bundled": {"test/none", "", "plugin.start", `bundles no plugin "test/none"`},
		"the one":     {"./mine", digest, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := host.New(quick())
			defer h.Stop()
			plugins, err := h.Start(context.Background(), []host.Spec{{Name: "mine", Source: tc.source, Dir: dir, Digest: tc.digest}})
			if tc.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				openSource(t, plugins["mine"], "")
				return
			}
			list := diag.FromError(err)
			if len(list) != 1 || list[0].Code != tc.code || list[0].Kind != diag.KindUnavailable || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("diagnostics %+v", list)
			}
		})
	}
}

func TestEveryPluginThatDoesNotStartIsReported(t *testing.T) {
	t.Parallel()
	h := host.New(quick())
	defer h.Stop()
	_, err := h.Start(t.Context(), []host.Spec{{Name: "a", Source: "test/odd"}, {Name: "b", Source: "./b"}, {Name: "c", Source: "test/c"}})
	if list := diag.FromError(err); len(list) != 2 || list[0].Data["plugin"] != "b" || list[1].Data["plugin"] != "c" {
		t.Fatalf("diagnostics %+v", list)
	}
}

func TestASchemaThatUsesAWordOfTheCoreIsRefused(t *testing.T) {
	t.Parallel()
	options := quick()
	options.Reserved = []string{"password"}
	h := host.New(options)
	defer h.Stop()
	_, err := h.Start(t.Context(), []host.Spec{{Name: "shop", Source: "test/odd"}})
	if list := diag.FromError(err); len(list) != 1 || list[0].Code != "plugin.schema" || !strings.Contains(list[0].Summary, "password") {
		t.Fatalf("diagnostics %+v", list)
	}
}

func TestACancelledStartLeavesNoProcess(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h := host.New(quick())
	defer h.Stop()
	if _, err := h.Start(ctx, []host.Spec{{Name: "shop", Source: "test/odd"}}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
}

// Two processes, one of each role; the host keeps what may run at once below
// what both sides serve, and opens each part before its read. Plugins with
// queues of their own end up holding each other's partners.
func TestPairsOverLimitedSlotsEnd(t *testing.T) {
	t.Parallel()
	h := host.New(quick())
	defer h.Stop()
	plugins, err := h.Start(t.Context(), []host.Spec{{Name: "from", Source: "test/odd"}, {Name: "to", Source: "test/odd"}})
	if err != nil {
		t.Fatal(err)
	}
	source := openSource(t, plugins["from"], "")
	tables, err := plugins["to"].OpenTables(t.Context(), open(""))
	if err != nil {
		t.Fatal(err)
	}
	ref := plugin.TableRef{Name: "bronze.orders"}
	newest, err := source.Latest(t.Context(), plugin.LatestRequest{Table: orders})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := source.PlanBatch(t.Context(), plugin.PlanBatchRequest{Table: orders, End: newest.End})
	if err != nil || len(plan.Ranges) != 4 {
		t.Fatalf("%d ranges, %v", len(plan.Ranges), err)
	}
	if _, err := tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref, Schema: plan.Schema}}); err != nil {
		t.Fatal(err)
	}
	begun, err := tables.BeginWrite(t.Context(), plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteAppend, Schema: plan.Schema, BaseVersion: -1})
	if err != nil {
		t.Fatal(err)
	}
	const pairs = 8
	slots := make(chan struct{}, min(source.Limits().MaxReads, tables.Limits().MaxParts, 2))
	var wait sync.WaitGroup
	parts, failures := make([]plugin.Part, pairs), make([]error, pairs)
	for i := range pairs {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			parts[i], failures[i] = tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: begun.WriteID, Part: i}, plugin.Lazy(func() (plugin.FrameReader, error) {
				return source.Read(t.Context(), plugin.ReadRequest{Table: orders, Range: plan.Ranges[i%4]})
			}))
		})
	}
	wait.Wait()
	if err := errors.Join(failures...); err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	for _, p := range parts {
		rows += p.Rows
	}
	if rows != 200 {
		t.Fatalf("%d rows arrived", rows)
	}
}

// When either end of a pair dies in its midst, its crash is what the part
// fails with, and the other end stays up.
func TestTheCrashOfOneEndFailsThePart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		isolation string
		attempt   int
		dead      string
		code      string
	}{
		"of the source": {dyingRead, 0, "from", "plugin.crashed"},
		"of the sink":   {"", dyingPart, "to", "plugin.write_lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := host.New(quick())
			defer h.Stop()
			plugins, err := h.Start(t.Context(), []host.Spec{{Name: "from", Source: "test/odd"}, {Name: "to", Source: "test/odd"}})
			if err != nil {
				t.Fatal(err)
			}
			source := openSource(t, plugins["from"], "")
			tables, err := plugins["to"].OpenTables(t.Context(), open(""))
			if err != nil {
				t.Fatal(err)
			}
			ref := plugin.TableRef{Name: "bronze.orders"}
			newest, err := source.Latest(t.Context(), plugin.LatestRequest{Table: orders})
			if err != nil {
				t.Fatal(err)
			}
			plan, err := source.PlanBatch(t.Context(), plugin.PlanBatchRequest{Table: orders, End: newest.End})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tables.ApplyTable(t.Context(), plugin.ApplyTableRequest{Spec: plugin.TableSpec{Table: ref, Schema: plan.Schema}}); err != nil {
				t.Fatal(err)
			}
			begun, err := tables.BeginWrite(t.Context(), plugin.BeginWriteRequest{Table: ref, Mode: plugin.WriteAppend, Schema: plan.Schema, BaseVersion: -1})
			if err != nil {
				t.Fatal(err)
			}
			_, err = tables.WritePart(t.Context(), plugin.WritePartRequest{WriteID: begun.WriteID, Attempt: tc.attempt}, plugin.Lazy(func() (plugin.FrameReader, error) {
				return source.Read(t.Context(), plugin.ReadRequest{Table: orders, Range: plan.Ranges[0], Isolation: tc.isolation})
			}))
			list := diag.FromError(err)
			if len(list) != 1 || list[0].Code != tc.code || list[0].Data["plugin"] != tc.dead || list[0].Data["exit"] != "exit status 4" {
				t.Fatalf("diagnostics %+v, %v", list, err)
			}
			// Both answer again: one in a new process, one in its first.
			if _, err := source.Latest(t.Context(), plugin.LatestRequest{Table: orders}); err != nil {
				t.Error(err)
			}
			if _, err := tables.GetTables(t.Context(), plugin.GetTablesRequest{Tables: []plugin.TableRef{ref}}); err != nil {
				t.Error(err)
			}
			for name, p := range plugins {
				if want := map[bool]int{true: 1}[name == tc.dead]; p.Restarts() != want {
					t.Errorf("plugin %q was started again %d times", name, p.Restarts())
				}
			}
			if err := errors.Join(source.Close(), tables.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}
