package planner

import (
	"context"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/state"
)

// Rewound is the error of what reads a source that went back in time, as
// another stream found: for one that stood before what was undone all looks
// well, and what it would read is another history than what the tables hold.
func Rewound(source, found addr.Address) error {
	return diag.Errorf(diag.KindRewound, "run.rewound", "Nothing more is read from it. Was it restored, or is it another server? The other error says what was found.",
		"%s went back in time, as %s found", source, found).Err()
}

// timeline refuses a stream whose position its source no longer has, and one
// with a position beside such a stream. A stream that has none yet may begin:
// that is the way out.
func (p *planning) timeline(ctx context.Context, lake *Lake, s *model.Stream, source addr.Address) error {
	info := p.info[s.Addr]
	if info.Diagnostics.HasErrors() {
		// Another database is no restored one, nor one that lost a table.
		if err := lake.Identical(ctx, s, p.sources[source].Database(), info); err != nil {
			return err
		}
	}
	if gone := rewound(info); len(gone) > 0 {
		return gone.Err()
	}
	if p.logs[s.Addr].Newest < 0 {
		return nil
	}
	for i := range p.Config.Streams {
		other := &p.Config.Streams[i]
		lake := p.lakes[other.To]
		if lake == nil || p.Config.Table(other.Table).Source != source || len(rewound(p.info[other.Addr])) == 0 {
			continue
		}
		if lake.Identical(ctx, other, p.sources[source].Database(), p.info[other.Addr]) == nil {
			return Rewound(source, other.Addr)
		}
	}
	return nil
}

// Identical looks whether a stream meets the database and the table that it was
// started with: source is who the source says it is, info what it says of the
// table. Of a table that the source does not find only the database is compared.
func (l *Lake) Identical(ctx context.Context, s *model.Stream, source plugin.Database, info plugin.TableInfo) error {
	own := l.State.Stream(s.AppID)
	id := state.Identity{Target: s.Target, Source: source.Identity, Alias: source.Alias, Table: info.Identity, Object: info.Object}
	if id.Table == "" {
		stored, known, err := own.Identity(ctx)
		if err != nil || !known {
			return err
		}
		id.Table, id.Object = stored.Table, stored.Object
	}
	return own.Check(ctx, id)
}

// rewound is what a source says of a position that it no longer has.
func rewound(info plugin.TableInfo) diag.List {
	var out diag.List
	for _, d := range info.Diagnostics.Errors() {
		if d.Kind == diag.KindRewound {
			out = append(out, d)
		}
	}
	return out
}
