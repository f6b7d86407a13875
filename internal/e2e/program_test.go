//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// runProgram runs the program and compares its exit code: pipectl ARGS, or
// exit CODE pipectl ARGS. Standard output and error are in their lasting form
// afterwards.
func runProgram(binary string, succeeds bool) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("write the code: exit CODE pipectl ARGS")
		}
		want := 0
		if !succeeds {
			if len(args) < 3 || args[1] != "pipectl" {
				ts.Fatalf("usage: exit CODE pipectl ARGS")
			}
			n, err := strconv.Atoi(args[0])
			ts.Check(err)
			want, args = n, args[2:]
		}
		code := exitCode(ts, ts.Exec(binary, args...))
		publish(ts, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
		if code != want {
			ts.Fatalf("pipectl %s exited with %d, not %d", strings.Join(args, " "), code, want)
		}
	}
}

// runUnread runs it with a standard output that takes nothing, as that of a full
// disk takes nothing: unread CODE pipectl ARGS.
func runUnread(binary string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 3 || args[1] != "pipectl" {
			ts.Fatalf("usage: unread CODE pipectl ARGS")
		}
		want, err := strconv.Atoi(args[0])
		ts.Check(err)
		out, err := os.Open(os.DevNull) // for reading alone: each write fails
		ts.Check(err)
		defer out.Close()
		var stderr bytes.Buffer
		cmd := exec.Command(binary, args[2:]...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), surroundings(ts), out, &stderr
		code := exitCode(ts, cmd.Run())
		publish(ts, "", stderr.String())
		if code != want {
			ts.Fatalf("pipectl %s exited with %d, not %d", strings.Join(args[2:], " "), code, want)
		}
	}
}

// surroundings are the variables of a script that programs see.
func surroundings(ts *testscript.TestScript) []string {
	var out []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "NO_COLOR", "SHOP_MSSQL_URL"} {
		out = append(out, name+"="+ts.Getenv(name))
	}
	return out
}

func exitCode(ts *testscript.TestScript, err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

// publish makes output what cmp, stdout and stderr look at.
func publish(ts *testscript.TestScript, stdout, stderr string) {
	work := ts.Getenv("WORK")
	_, err := io.WriteString(ts.Stdout(), lasting(work, stdout))
	ts.Check(err)
	_, err = io.WriteString(ts.Stderr(), lasting(work, stderr))
	ts.Check(err)
}

// program is one that runs in the background.
type program struct {
	cmd   *exec.Cmd
	pipes sync.WaitGroup
	done  chan struct{} // closed when it has ended
	err   error         // of Wait; read after done is closed

	mu             sync.Mutex
	changed        *sync.Cond
	stdout, stderr bytes.Buffer
}

// kill ends it and what it has started: whatever lives on holds its pipes.
func (p *program) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// collect keeps what a pipe says, line by line.
func (p *program) collect(from io.Reader, into *bytes.Buffer) {
	p.pipes.Go(func() {
		lines := bufio.NewReader(from)
		for {
			line, err := lines.ReadString('\n')
			p.mu.Lock()
			into.WriteString(line)
			p.changed.Broadcast()
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
}

// startProgram runs it in the background: start NAME pipectl ARGS.
func startProgram(binary string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 3 || args[1] != "pipectl" {
			ts.Fatalf("usage: start NAME pipectl ARGS")
		}
		p := &program{cmd: exec.Command(binary, args[2:]...), done: make(chan struct{})}
		p.changed = sync.NewCond(&p.mu)
		p.cmd.Dir, p.cmd.Env = ts.MkAbs("."), surroundings(ts)
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		stdout, err := p.cmd.StdoutPipe()
		ts.Check(err)
		stderr, err := p.cmd.StderrPipe()
		ts.Check(err)
		ts.Check(p.cmd.Start())
		p.collect(stdout, &p.stdout)
		p.collect(stderr, &p.stderr)
		go func() {
			p.pipes.Wait()
			p.err = p.cmd.Wait()
			close(p.done)
			p.mu.Lock()
			p.changed.Broadcast()
			p.mu.Unlock()
		}()
		scriptOf(ts).programs[args[0]] = p
	}
}

func background(ts *testscript.TestScript, args []string, n int, usage string) *program {
	if len(args) != n {
		ts.Fatalf("usage: %s", usage)
	}
	p := scriptOf(ts).programs[args[0]]
	if p == nil {
		ts.Fatalf("no program was started as %s", args[0])
	}
	return p
}

// await waits for output that matches, of either stream: await NAME PATTERN.
func await(ts *testscript.TestScript, neg bool, args []string) {
	p := background(ts, args, 2, "await NAME PATTERN")
	re, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	late := false
	over := time.AfterFunc(patience, func() {
		p.mu.Lock()
		late = true
		p.changed.Broadcast()
		p.mu.Unlock()
	})
	defer over.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !re.Match(p.stdout.Bytes()) && !re.Match(p.stderr.Bytes()) {
		if ended(p) || late {
			ts.Fatalf("%s never wrote %s:\n%s%s", args[0], args[1], p.stdout.String(), p.stderr.String())
		}
		p.changed.Wait()
	}
}

// until waits for what another program writes in the background, such as the
// record of a run: until PATTERN pipectl ARGS runs the program again until its
// standard output matches, ! until until it does not. The exit code is not
// compared.
func until(binary string) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if len(args) < 3 || args[1] != "pipectl" {
			ts.Fatalf("usage: until PATTERN pipectl ARGS")
		}
		re, err := regexp.Compile("(?m)" + args[0])
		ts.Check(err)
		for deadline := time.Now().Add(patience); ; {
			exitCode(ts, ts.Exec(binary, args[2:]...))
			stdout := ts.ReadFile("stdout")
			if re.MatchString(stdout) != neg {
				publish(ts, stdout, ts.ReadFile("stderr"))
				return
			}
			if time.Now().After(deadline) {
				ts.Fatalf("pipectl %s always writes:\n%s", strings.Join(args[2:], " "), stdout)
			}
		}
	}
}

func ended(p *program) bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

var signals = map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL}

// signalProgram sends a signal: signal NAME TERM|INT|KILL.
func signalProgram(ts *testscript.TestScript, neg bool, args []string) {
	p := background(ts, args, 2, "signal NAME TERM|INT|KILL")
	s, ok := signals[args[1]]
	if neg || !ok {
		ts.Fatalf("usage: signal NAME TERM|INT|KILL")
	}
	ts.Check(p.cmd.Process.Signal(s))
}

// end waits for the end and compares the exit code, -1 after SIGKILL: end NAME CODE.
func end(ts *testscript.TestScript, neg bool, args []string) {
	p := background(ts, args, 2, "end NAME CODE")
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	over := time.NewTimer(patience)
	defer over.Stop()
	select {
	case <-p.done:
	case <-over.C:
		ts.Fatalf("%s does not end:\n%s%s", args[0], p.stdout.String(), p.stderr.String())
	}
	publish(ts, p.stdout.String(), p.stderr.String())
	if code := exitCode(ts, p.err); code != want {
		ts.Fatalf("%s exited with %d, not %d", args[0], code, want)
	}
}

// killPlugin sends SIGKILL to the process of a bundled plugin, which the
// program must have started: kill-plugin NAME source-mssql.
func killPlugin(ts *testscript.TestScript, neg bool, args []string) {
	p := background(ts, args, 2, "kill-plugin NAME PLUGIN")
	entries, err := filepath.Glob("/proc/[0-9]*/stat")
	ts.Check(err)
	for _, entry := range entries {
		stat, err := os.ReadFile(entry)
		if err != nil {
			continue // it has ended
		}
		// The name in parentheses may hold blanks; state and parent follow it.
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[1] != strconv.Itoa(p.cmd.Process.Pid) {
			continue
		}
		command, err := os.ReadFile(filepath.Join(filepath.Dir(entry), "cmdline"))
		if err != nil || !strings.Contains(string(command), "pipectl/"+args[1]) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(entry)))
		ts.Check(err)
		ts.Check(syscall.Kill(pid, syscall.SIGKILL))
		return
	}
	ts.Fatalf("%s has no plugin %s", args[0], args[1])
}
