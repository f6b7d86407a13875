package plugin_test

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// closed are frames that have ended, for calls that take some.
type closed struct{ plugin.FrameReader }

func (closed) Close() error { return nil }

// calls are the methods of a role by name, each as a call that names one table
// (of a source) and is otherwise empty. They are those of the interface, so that
// a call which comes later is held as well.
func calls(role reflect.Type, of any, table plugin.SourceTable) map[string]func(context.Context) error {
	out := map[string]func(context.Context) error{}
	for i := range role.NumMethod() {
		name := role.Method(i).Name
		method := reflect.ValueOf(of).MethodByName(name)
		if name == "Limits" || name == "Close" { // they reach no table
			continue
		}
		out[name] = func(ctx context.Context) error {
			args := []reflect.Value{reflect.ValueOf(ctx)}
			for n := 1; n < method.Type().NumIn(); n++ {
				arg := reflect.New(method.Type().In(n)).Elem()
				switch {
				case arg.Type() == reflect.TypeFor[plugin.FrameReader]():
					arg.Set(reflect.ValueOf(closed{}))
				case arg.Type() == reflect.TypeFor[plugin.SourceTable]():
					arg.Set(reflect.ValueOf(table))
				case arg.Kind() == reflect.Struct:
					if one := arg.FieldByName("Table"); one.IsValid() && one.Type() == reflect.TypeFor[plugin.SourceTable]() {
						one.Set(reflect.ValueOf(table))
					}
					if list := arg.FieldByName("Tables"); list.IsValid() {
						list.Set(reflect.MakeSlice(list.Type(), 1, 1))
						if list.Type() == reflect.TypeFor[[]plugin.SourceTable]() {
							list.Index(0).Set(reflect.ValueOf(table))
						}
					}
				}
				args = append(args, arg)
			}
			answer := method.Call(args)
			err, _ := answer[len(answer)-1].Interface().(error)
			return err
		}
	}
	return out
}

// A step that was granted nothing reaches nothing: no table, no object, where the
// state lies, and no source.
func TestWhatIsNotGrantedIsRefused(t *testing.T) {
	t.Parallel()
	// Whatever came through would panic: there is nothing behind.
	narrow := plugin.Access{}.Narrow(plugin.Host{Tables: struct{ plugin.Tables }{}, Source: struct{ plugin.Source }{}})
	for role, all := range map[string]map[string]func(context.Context) error{
		"tables": calls(reflect.TypeFor[plugin.Tables](), narrow.Tables, plugin.SourceTable{}),
		"source": calls(reflect.TypeFor[plugin.Source](), narrow.Source, plugin.SourceTable{Address: "table.orders"}),
	} {
		if len(all) < 10 {
			t.Errorf("%s: only %d calls", role, len(all))
		}
		for name, call := range all {
			t.Run(role+" "+name, func(t *testing.T) {
				t.Parallel()
				defer func() {
					if reached := recover(); reached != nil {
						t.Errorf("it was let through: %v", reached)
					}
				}()
				if err := call(t.Context()); !diag.Is(err, diag.KindPermission) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// asked records the tables that calls reach the source with.
type asked struct {
	plugin.Source
	tables []plugin.SourceTable
}

func (s *asked) Inspect(_ context.Context, req plugin.InspectRequest) (plugin.InspectResponse, error) {
	s.tables = append(s.tables, req.Tables...)
	return plugin.InspectResponse{}, nil
}

func (s *asked) Start(_ context.Context, req plugin.StartRequest) (plugin.Position, error) {
	s.tables = append(s.tables, req.Table)
	return plugin.Position{}, nil
}

func (s *asked) Latest(_ context.Context, req plugin.LatestRequest) (plugin.LatestResponse, error) {
	s.tables = append(s.tables, req.Table)
	return plugin.LatestResponse{}, nil
}

func (s *asked) PlanBatch(_ context.Context, req plugin.PlanBatchRequest) (plugin.BatchPlan, error) {
	s.tables = append(s.tables, req.Table)
	return plugin.BatchPlan{}, nil
}

func (s *asked) Read(_ context.Context, req plugin.ReadRequest) (plugin.FrameReader, error) {
	s.tables = append(s.tables, req.Table)
	return closed{}, nil
}

func (s *asked) Stamp(_ context.Context, table plugin.SourceTable) (plugin.Position, error) {
	s.tables = append(s.tables, table)
	return plugin.Position{}, nil
}

func (s *asked) OpenSnapshot(_ context.Context, req plugin.OpenSnapshotRequest) (plugin.SnapshotInfo, error) {
	s.tables = append(s.tables, req.Table)
	return plugin.SnapshotInfo{}, nil
}

func (s *asked) PlanChunks(_ context.Context, req plugin.PlanChunksRequest) ([]plugin.Chunk, error) {
	s.tables = append(s.tables, req.Table)
	return nil, nil
}

func (s *asked) Lost(_ context.Context, req plugin.LostRequest) (plugin.LostResponse, error) {
	s.tables = append(s.tables, req.Table)
	return plugin.LostResponse{}, nil
}

func (s *asked) Aggregate(_ context.Context, req plugin.AggregateRequest) (plugin.FrameReader, error) {
	s.tables = append(s.tables, req.Table)
	return closed{}, nil
}

// A step names a table of the source by its address; what is read there is what
// the configuration says, and not another object or a column that is left out.
func TestAStepReadsTheSourceAsTheConfigurationSays(t *testing.T) {
	t.Parallel()
	body := func(object string) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"object": cty.StringVal(object)})
	}
	granted := plugin.SourceTable{
		Address: "table.orders", Object: body("dbo.orders"), Key: []string{"id"}, Columns: []plugin.ColumnRule{{Name: "password", Drop: true}},
	}
	wider := plugin.SourceTable{Address: granted.Address, Object: body("hr.salaries")}
	foreign := plugin.SourceTable{Address: "table.salaries", Object: granted.Object}
	role := reflect.TypeFor[plugin.Source]()
	for name := range calls(role, &asked{}, wider) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := &asked{}
			source := plugin.Access{Source: []plugin.SourceTable{granted}}.Narrow(plugin.Host{Source: inner}).Source
			if err := calls(role, source, wider)[name](t.Context()); err != nil || !reflect.DeepEqual(inner.tables, []plugin.SourceTable{granted}) {
				t.Errorf("it reached the source with %+v, want %+v (%v)", inner.tables, granted, err)
			}
			before := slices.Clone(inner.tables)
			if err := calls(role, source, foreign)[name](t.Context()); !diag.Is(err, diag.KindPermission) || !reflect.DeepEqual(inner.tables, before) {
				t.Errorf("another table: %v, it reached the source with %+v", err, inner.tables[len(before):])
			}
		})
	}
}
