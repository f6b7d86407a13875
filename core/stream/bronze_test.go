package stream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/ledger"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/stream"
)

func TestReservedColumnNames(t *testing.T) {
	t.Parallel()
	source := func(names ...string) *arrow.Schema {
		fields := []arrow.Field{}
		for _, n := range []string{"_capture_instance", "_start_lsn", "_seqval", "_operation", "_commit_ts"} {
			fields = append(fields, arrow.Field{Name: n, Type: arrow.BinaryTypes.String})
		}
		for _, n := range names {
			fields = append(fields, arrow.Field{Name: n, Type: arrow.PrimitiveTypes.Int32})
		}
		return arrow.NewSchema(fields, nil)
	}
	for _, name := range []string{"_chunk", "_START_LSN", "_Batch_id", "_snapshot", "_start_lsn"} {
		_, err := stream.BronzeSpec(plugin.TableRef{Name: bronze}, source("id", name))
		if !diag.Is(err, diag.KindConfiguration) || !strings.Contains(fmt.Sprint(err), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	spec, err := stream.BronzeSpec(plugin.TableRef{Name: bronze}, source("id", "_note", "Qty (kg)"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i, f := range spec.Schema.Fields() {
		names = append(names, f.Name)
		comment, _ := f.Metadata.GetValue("comment")
		if captured := i >= 5 && i < 8; captured != (comment == "") || !f.Nullable {
			t.Errorf("column %s has comment %q", f.Name, comment)
		}
	}
	want := "_capture_instance _start_lsn _seqval _operation _commit_ts id _note Qty (kg) _batch_id _snapshot _chunk"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("columns %s", got)
	}
	if spec.Properties[ledger.PropertySchemaVersion] != "2" || len(spec.Properties) != 1 || spec.Description == "" {
		t.Errorf("spec %+v", spec)
	}
	if _, err := stream.BronzeSpec(plugin.TableRef{Name: bronze}, arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int32}}, nil)); err == nil {
		t.Error("rows without metadata columns were accepted")
	}
}
