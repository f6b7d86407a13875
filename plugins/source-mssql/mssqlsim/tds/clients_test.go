package tds

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// clientMessage is a message that a client sent to this package: testdata/clients/<kind>_<client>_<version>_<n>.bin.
type clientMessage struct {
	name string
	ver  uint32
	data []byte
}

func clientMessages(t testing.TB, kind string) (out []clientMessage) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "clients", kind+"_*.bin"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(filepath.Base(f), "_")
		ver, _ := strconv.ParseUint(parts[2], 16, 32) // PRELOGIN has none
		out = append(out, clientMessage{filepath.Base(f), uint32(ver), data})
	}
	return out
}

// fuzzVersionOf is the reverse of fuzzVersion.
func fuzzVersionOf(ver uint32) byte {
	switch {
	case ver < ver72:
		return 0
	case ver < ver73:
		return 1
	case ver < ver74:
		return 2
	}
	return 3
}

func TestMessagesOfOtherClientsAreUnderstood(t *testing.T) {
	t.Parallel()
	check := func(m clientMessage, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
	for _, m := range clientMessages(t, "prelogin") {
		_, err := parsePrelogin(m.data)
		check(m, err)
	}
	for _, m := range clientMessages(t, "login") {
		l, err := parseLogin(m.data)
		check(m, err)
		if l.User != "sa" || l.Password != "Secret1!" || l.TDSVersion != m.ver {
			t.Errorf("%s: %s", m.name, l)
		}
	}
	for _, m := range clientMessages(t, "batch") {
		sql, err := parseBatch(m.data, m.ver)
		check(m, err)
		if strings.TrimSpace(sql) == "" || strings.ContainsRune(sql, '\uFFFD') {
			t.Errorf("%s: %q", m.name, sql)
		}
	}
	for _, m := range clientMessages(t, "rpc") {
		_, err := parseRPC(m.data, m.ver)
		check(m, err)
	}
	for _, m := range clientMessages(t, "tran") {
		_, err := parseTran(m.data, m.ver)
		check(m, err)
	}
}
