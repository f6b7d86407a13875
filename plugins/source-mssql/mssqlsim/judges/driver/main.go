// Command driver judges a server through Microsoft's Go driver, of the version in go.mod. It logs in and reads all values of
// the list that every judge reads. Then it runs the tests that come with the driver's module, from a copy that can be written,
// since a test may leave files.
//
// Tests that are known not to pass are in a list, each with its reason, and those that skip themselves in another. A test that
// fails or skips itself and is not listed is a failure; a listed one that passes is told, so that no list keeps more than it must.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// result is a line of the output.
type result struct {
	Judge  string `json:"judge"`
	Test   string `json:"test"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// run is the program: 0 when all that is not listed passed, 1 when not, 2 for wrong arguments. It prints one JSON object a
// line for each test and for each listed one, then a summary.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("driver", flag.ContinueOnError)
	fs.SetOutput(stderr)
	server := fs.String("server", "", "`URL` of the server: sqlserver://user:password@host:port?database=...")
	list := fs.String("list", "", "`file` with the tests that do not pass; without it only values are read")
	skips := fs.String("skipped", "", "`file` with the tests that skip themselves")
	types := fs.String("values", "", "`file` with the values to read")
	again := fs.Bool("again", true, "run the listed tests too, to tell those that pass")
	logs := fs.String("logs", "", "`folder` for what failed tests print")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	if *server == "" || *types == "" || *logs == "" {
		fmt.Fprintln(stderr, "driver: -server, -values and -logs are needed")
		return 2
	}
	p := program{server: *server, again: *again, logs: *logs, out: json.NewEncoder(stdout)}
	p.out.SetEscapeHTML(false)
	for _, l := range []struct {
		file string
		to   *[]entry
	}{{*list, &p.known}, {*skips, &p.skips}} {
		if l.file == "" {
			continue
		}
		text, err := os.ReadFile(l.file)
		if err != nil {
			fmt.Fprintf(stderr, "driver: reading a list: %v\n", err)
			return 2
		}
		if *l.to, err = parseList(string(text)); err != nil {
			fmt.Fprintf(stderr, "driver: %s: %v\n", l.file, err)
			return 2
		}
	}
	failed, err := p.types(ctx, *types)
	if err == nil && *list != "" {
		err = p.tests(ctx)
	}
	if failed > 0 {
		err = errors.Join(fmt.Errorf("%d of the values and logins failed", failed), err)
	}
	if err != nil {
		fmt.Fprintf(stderr, "driver: %v\n", err)
		return 1
	}
	return 0
}

// program is one run.
type program struct {
	server string
	known  []entry // do not pass
	skips  []entry // skip themselves
	again  bool
	logs   string
	out    *json.Encoder
}

// tests runs the tests of the driver.
func (p *program) tests(ctx context.Context) (err error) {
	s, err := build(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	if err := s.holds(ctx, append(p.known[:len(p.known):len(p.known)], p.skips...)); err != nil {
		return err
	}
	outcomes, err := s.test(ctx, p.server, skipped(p.known), "")
	if err != nil {
		return err
	}
	var passed, failed, left, better int
	for _, o := range outcomes {
		reason, listed := reasonOf(p.skips, o.test)
		if listed && o.action != "skip" && !strings.Contains(o.test, "/") {
			if err := p.print(o.test, true, "does not skip itself with this server and mode: "+reason, ""); err != nil {
				return err
			}
		}
		switch {
		case o.action == "pass":
			passed++
		case o.action == "skip" && listed:
			left++
			o.output = reason
		case o.action == "skip":
			failed++
		default:
			// Some tests of the driver race with themselves: what fails twice, the second time alone, has failed.
			if again, err := s.test(ctx, p.server, "", o.test); err == nil && succeeded(again) {
				passed++
				if err := p.print(o.test, true, "passed at the second time, alone", ""); err != nil {
					return err
				}
				continue
			}
			failed++
		}
		if err := p.print(o.test, o.action == "pass" || o.action == "skip" && listed, o.detail(), o.output); err != nil {
			return err
		}
	}
	for _, e := range p.known {
		if !p.again {
			break
		}
		outcomes, err := s.test(ctx, p.server, "", e.test) // each alone, since some end the process of all
		if err == nil && succeeded(outcomes) {
			better++
			err = p.print(e.test, true, "PASSES and need not be listed any more: "+e.reason, "")
		} else {
			err = p.print(e.test, true, "does not pass: "+e.reason, "")
		}
		if err != nil {
			return err
		}
	}
	if err := p.out.Encode(map[string]any{"judge": judge, "ran": passed + failed, "passed": passed, "failed": failed, "skipped_by_itself": left, "listed": len(p.known), "listed_that_pass": better}); err != nil {
		return err
	}
	if failed > 0 || passed == 0 {
		return fmt.Errorf("%d tests failed or skipped themselves without being listed, and %d passed; what they printed is in %s", failed, passed, p.logs)
	}
	return nil
}

const judge = "go-mssqldb"

// print says what became of a test; the output of one that failed is kept.
func (p *program) print(test string, ok bool, detail, output string) error {
	if !ok {
		if err := writeLog(p.logs, test, output); err != nil {
			return err
		}
	}
	if err := p.out.Encode(result{Judge: judge, Test: test, OK: ok, Detail: strings.TrimSpace(detail)}); err != nil {
		return fmt.Errorf("printing a result: %w", err)
	}
	return nil
}
