package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/pipectl/pipectl/core/quantity"
)

// referenceVariable leaves the reference out when it is 0: it takes minutes.
const referenceVariable = "BENCH_REFERENCE"

// errNoReference: the system lacks something that the reference needs.
var errNoReference = errors.New("the reference implementation does not work here")

// reference is the implementation in Spark doing the same work against the
// same simulator, beside pipectl. It is left out, loudly, where it cannot run.
func (b *bench) reference(ctx context.Context) (err error) {
	if os.Getenv(referenceVariable) == "0" {
		b.note("*** SKIPPED: the reference implementation, by %s=0.", referenceVariable)
		return nil
	}
	venv, err := b.venv(ctx)
	if err != nil {
		b.note("*** SKIPPED: the reference implementation cannot run here: %v", err)
		return nil
	}
	sim, err := b.startSimulator(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sim.close()) }()
	if err := sim.do(fmt.Sprintf("load %d", b.size.table), "capture"); err != nil {
		return err
	}
	spark, err := b.startReference(ctx, venv, sim.url)
	if errors.Is(err, errNoReference) {
		b.note("*** SKIPPED: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() {
		if cerr := spark.close(); err == nil {
			err = cerr
		}
	}()
	p, err := b.program("beside", sim.url, bootstrapFull)
	if err != nil {
		return err
	}
	return b.beside(ctx, sim, p, spark, filepath.Join(b.dir, "reference"))
}

// beside does every step with both.
func (b *bench) beside(ctx context.Context, sim *simulator, p *program, spark *reference, folder string) error {
	if err := p.prepare(ctx); err != nil {
		return err
	}
	steps := []struct{ name, before, address, command string }{
		{quantity.Grouped(b.size.table) + " rows of a snapshot into bronze", "", streamStep, "stream " + folder + " full"},
		{quantity.Grouped(b.size.table) + " rows: first build of silver", "", silverStep, "apply " + folder},
		{quantity.Grouped(b.size.changes) + " changes into bronze", fmt.Sprintf("change %d", b.size.changes), streamStep, "stream " + folder + " full"},
		{quantity.Grouped(b.size.changes) + " changes into silver", "", silverStep, "apply " + folder},
		{quantity.Grouped(b.size.applied) + " changes into bronze", fmt.Sprintf("change %d", b.size.applied), streamStep, "stream " + folder + " full"},
		{fmt.Sprintf("%s changes into silver of %s rows", quantity.Grouped(b.size.applied), quantity.Grouped(b.size.table)), "", silverStep, "apply " + folder},
	}
	for _, step := range steps {
		if step.before != "" {
			if err := sim.do(step.before); err != nil {
				return err
			}
		}
		theirs, err := spark.do(step.command)
		if err != nil {
			return err
		}
		ours, _, err := p.one(ctx, step.address)
		if err != nil {
			return err
		}
		b.add(figure{name: "reference: " + step.name, ours: seconds(ours.Seconds), baseline: seconds(theirs) + ", mssql-cdc-pyspark", ratio: fmt.Sprintf("%.1f times as fast", theirs/ours.Seconds)})
	}
	return nil
}

// venv makes .venv with the reference in it, when it is not there.
func (b *bench) venv(ctx context.Context) (string, error) {
	venv, err := filepath.Abs(filepath.Join(b.root, ".venv"))
	if err != nil {
		return "", err
	}
	here := filepath.Join(b.root, "internal", "bench")
	python := filepath.Join(venv, "bin", "python")
	var steps [][]string
	if _, err := os.Stat(python); err != nil {
		steps = append(steps, []string{"python3", "-m", "venv", venv})
	}
	steps = append(steps, []string{"java", "-version"},
		[]string{python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", filepath.Join(here, "requirements.txt")})
	for _, jar := range sparkJars {
		if _, err := os.Stat(filepath.Join(venv, "jars", jar.file)); err != nil {
			steps = append(steps, []string{"mvn", "--quiet", "--batch-mode", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy",
				"-Dartifact=" + jar.artifact, "-DoutputDirectory=" + filepath.Join(venv, "jars")})
		}
	}
	for _, step := range steps {
		if out, err := exec.CommandContext(ctx, step[0], step[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", strings.Join(step, " "), err, out)
		}
	}
	return venv, nil
}

// sparkJars are what Spark needs for Delta besides pyspark.
var sparkJars = []struct{ artifact, file string }{
	{"io.delta:delta-spark_4.2_2.13:4.4.0", "delta-spark_4.2_2.13-4.4.0.jar"},
	{"io.delta:delta-storage:4.4.0", "delta-storage-4.4.0.jar"},
}

// reference is a running process of the reference implementation.
type reference struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *bufio.Scanner
	problems bytes.Buffer
}

func (b *bench) startReference(ctx context.Context, venv, address string) (*reference, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	password, _ := u.User.Password()
	var jars []string
	for _, jar := range sparkJars {
		jars = append(jars, filepath.Join(venv, "jars", jar.file))
	}
	r := &reference{cmd: exec.CommandContext(ctx, filepath.Join(venv, "bin", "python"), filepath.Join(b.root, "internal", "bench", "reference.py"),
		"--host", u.Hostname(), "--port", u.Port(), "--database", shopDatabase, "--user", u.User.Username(), "--password", password,
		"--instance", shopInstance, "--key", shopColumns()[0].Name, "--jars", strings.Join(jars, ","))}
	r.cmd.Env = append(os.Environ(), "SPARK_LOCAL_IP=127.0.0.1", "TZ=UTC", "PYTHONDONTWRITEBYTECODE=1",
		"PYSPARK_PYTHON="+filepath.Join(venv, "bin", "python"))
	r.cmd.Stderr = &r.problems
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.out = bufio.NewScanner(out)
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the reference: %w", err)
	}
	for r.out.Scan() {
		if r.out.Text() == "ready" {
			return r, nil
		}
		if reason, ok := strings.CutPrefix(r.out.Text(), "cannot "); ok {
			return nil, errors.Join(fmt.Errorf("%w: it cannot %s", errNoReference, reason), r.close())
		}
	}
	return nil, r.ended("its start")
}

// do carries out one command and returns its seconds.
func (r *reference) do(command string) (float64, error) {
	if _, err := fmt.Fprintln(r.in, command); err != nil {
		return 0, r.ended(command)
	}
	if !r.out.Scan() {
		return 0, r.ended(command)
	}
	var answer struct {
		Seconds float64 `json:"seconds"`
		Error   string  `json:"error"`
	}
	if err := json.Unmarshal(r.out.Bytes(), &answer); err != nil {
		return 0, fmt.Errorf("the reference answers %q with %q", command, r.out.Text())
	}
	if answer.Error != "" {
		return 0, fmt.Errorf("the reference answers %q with: %s", command, answer.Error)
	}
	return answer.Seconds, nil
}

// ended says why the process is gone.
func (r *reference) ended(at string) error {
	err := r.close()
	return fmt.Errorf("the reference ended at %q: %w\n%s", at, err, r.problems.String())
}

func (r *reference) close() error { return errors.Join(r.in.Close(), r.cmd.Wait()) }
