package state

import (
	"context"
	"errors"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// ErrExists is what Put answers when a key that must be absent exists.
var ErrExists = errors.New("the object exists")

// Objects is the place where state lives. Keys are slash-separated.
type Objects interface {
	// Put stores the object whole; readers see the old one or the new one. With
	// onlyIfAbsent it answers ErrExists when there is one already.
	Put(ctx context.Context, key string, data []byte, onlyIfAbsent bool) error
	// Get answers false when there is none.
	Get(ctx context.Context, key string) ([]byte, bool, error)
	// List lists the keys with the prefix that come after startAfter, in order.
	List(ctx context.Context, prefix, startAfter string) ([]string, error)
	// Delete removes the object; none is no error.
	Delete(ctx context.Context, key string) error
	// Probe tells that no object could be written below a prefix, which ends in a
	// slash or is empty, as Put would, and writes nothing to find out; nil is no
	// promise.
	Probe(ctx context.Context, prefix string) error
	// Place says for people where a key lies.
	Place(key string) string
}

// sinkRoot is the folder of a sink that belongs to pipectl.
const sinkRoot = "_pipectl/"

// InSink keeps state beside the tables of a sink, under _pipectl/. The sink
// needs the capability Objects. Display names the sink in messages.
func InSink(tables plugin.Tables, display string) Objects {
	return sinkObjects{tables: tables, display: display}
}

type sinkObjects struct {
	tables  plugin.Tables
	display string
}

func (s sinkObjects) Put(ctx context.Context, key string, data []byte, onlyIfAbsent bool) error {
	err := s.tables.PutObject(ctx, plugin.Object{Key: sinkRoot + key, Data: data}, onlyIfAbsent)
	if onlyIfAbsent && diag.Is(err, diag.KindConflict) {
		return ErrExists
	}
	return err
}

func (s sinkObjects) Get(ctx context.Context, key string) ([]byte, bool, error) {
	obj, ok, err := s.tables.GetObject(ctx, sinkRoot+key)
	return obj.Data, ok, err
}

func (s sinkObjects) List(ctx context.Context, prefix, startAfter string) ([]string, error) {
	if startAfter != "" {
		startAfter = sinkRoot + startAfter
	}
	keys, err := s.tables.ListObjects(ctx, sinkRoot+prefix, startAfter)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = k[len(sinkRoot):]
	}
	return out, nil
}

func (s sinkObjects) Delete(ctx context.Context, key string) error {
	return s.tables.DeleteObject(ctx, sinkRoot+key)
}

func (s sinkObjects) Probe(ctx context.Context, prefix string) error {
	if prober, ok := s.tables.(plugin.ObjectProber); ok {
		return prober.ProbeObjects(ctx, sinkRoot+prefix)
	}
	return nil
}

func (s sinkObjects) Place(key string) string { return sinkRoot + key + " in " + s.display }
