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
	if gone := rewound(p.info[s.Addr]); len(gone) > 0 {
		// Another database is no restored one, and needs another answer.
		if err := p.identical(ctx, lake, s); err != nil {
			return err
		}
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
		if p.identical(ctx, lake, other) == nil {
			return Rewound(source, other.Addr)
		}
	}
	return nil
}

// identical looks whether a stream meets the database and the table that it was
// started with.
func (p *planning) identical(ctx context.Context, lake *Lake, s *model.Stream) error {
	info := p.info[s.Addr]
	return lake.State.Stream(s.AppID).Check(ctx, state.Identity{
		Target: s.Target, Source: p.sources[p.Config.Table(s.Table).Source].Identity, Table: info.Identity, Object: info.Object,
	})
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
