package mssql

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

func TestEncryptedConnections(t *testing.T) {
	t.Parallel()
	own, _ := ownServer(t, mssqlsim.Options{TLS: mssqlsim.TLSLogin})
	host, port, err := net.SplitHostPort(own.Addr())
	must(t, err)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	must(t, os.WriteFile(ca, own.Certificate(), 0o600))
	for name, tc := range map[string]struct {
		args written
		code string
	}{
		"an unknown authority": {written{}, codeTLS},
		"any certificate":      {written{"trust_server_certificate": cty.True}, ""},
		"the authority":        {written{"certificate": str(ca)}, ""},
		"strict":               {written{"encrypt": str("strict"), "certificate": str(ca)}, ""},
		"the log-in only":      {written{"encrypt": str("false"), "trust_server_certificate": cty.True}, ""},
		"nothing":              {written{"encrypt": str("disable")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			args := written{"host": str(host), "port": cty.MustParseNumberVal(port), "database": str("shop"), "user": str("sa"), "password": str(mssqlsim.DefaultPassword)}
			for k, v := range tc.args {
				args[k] = v
			}
			s, err := newPlugin(nil, slog.DiscardHandler).OpenSource(ctx, plugin.OpenRequest{Component: Type, Address: "source.shop", Config: object(connectionSchema().EmptyValue(), args)})
			must(t, err)
			defer func() { must(t, s.Close()) }()
			r, err := s.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{table()}})
			if tc.code == "" {
				if err != nil || r.Tables[0].Diagnostics.HasErrors() {
					t.Fatalf("%+v, %v", r, err)
				}
				return
			}
			d := wantDiag(t, err, diag.KindUnavailable, tc.code, "certificate")
			if d.Path.String() != argHost || strings.Contains(err.Error(), mssqlsim.DefaultPassword) {
				t.Errorf("path %s, %v", d.Path, err)
			}
		})
	}
	_, list := parseConnection(object(connectionSchema().EmptyValue(), written{"host": str(host), "database": str("shop"), "user": str("sa"), "certificate": str("missing.pem")}))
	if errs := list.Errors(); len(errs) != 1 || errs[0].Path.String() != argCertificate {
		t.Errorf("a certificate that is not there: %v", list)
	}
}

// A server without a certificate answers the default of encrypt in its own way.
func TestAServerWithoutEncryptionIsCalledThat(t *testing.T) {
	t.Parallel()
	own, _ := ownServer(t, mssqlsim.Options{})
	host, port, err := net.SplitHostPort(own.Addr())
	must(t, err)
	args := written{"host": str(host), "port": cty.MustParseNumberVal(port), "database": str("shop"), "user": str("sa"), "password": str(mssqlsim.DefaultPassword)}
	s, err := newPlugin(nil, slog.DiscardHandler).OpenSource(t.Context(), plugin.OpenRequest{Component: Type, Address: "source.shop", Config: object(connectionSchema().EmptyValue(), args)})
	must(t, err)
	defer func() { must(t, s.Close()) }()
	_, err = s.Inspect(t.Context(), plugin.InspectRequest{Tables: []plugin.SourceTable{table()}})
	d := wantDiag(t, err, diag.KindUnavailable, codeTLS, `set encrypt = "disable" where the network is trusted`)
	if !strings.Contains(d.Summary, "offers no encryption") || transient(err) {
		t.Errorf("%v", err)
	}
}
