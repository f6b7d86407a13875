package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
)

// digestFormat names the way a digest is made. A digest of another format
// never equals one of this, so that a change of the method asks for one apply
// instead of passing unseen.
const digestFormat = "d1"

// Digest is a stable hash of what the address declares: "apply" records it,
// and "run" works only where it is still the same. It holds no secret. It
// leaves out what changes no structure and reads no table anew (tags,
// descriptions, limits, starting positions), and every value that is its
// default, so that an argument which a later release adds changes no digest.
//
// The digest of a stream covers its table; the digests of silver and check
// cover the table, too. Connections of sources and sinks are in their own
// digests only: moving a database to another host is no change of its tables.
func (c *Config) Digest(a addr.Address) (string, error) {
	form, err := c.digestForm(a)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(form)
	if err != nil {
		return "", fmt.Errorf("digest of %s: %w", a, err)
	}
	sum := sha256.Sum256(text)
	return digestFormat + ":" + hex.EncodeToString(sum[:]), nil
}

// digestForm is the value that is hashed. encoding/json writes maps in the
// order of their keys, which makes the text stable.
func (c *Config) digestForm(a addr.Address) (map[string]any, error) {
	missing := func(what addr.Address) (map[string]any, error) {
		return nil, fmt.Errorf("digest of %s: the configuration declares no %s", a, what)
	}
	switch a.Kind {
	case addr.Source:
		s := c.Source(a)
		if s == nil {
			return missing(a)
		}
		return map[string]any{"kind": "source", "type": s.Type, "body": digestBody(s.Body, s.Origin, nil)}, nil
	case addr.Sink:
		s := c.Sink(a)
		if s == nil {
			return missing(a)
		}
		return map[string]any{"kind": "sink", "type": s.Type, "body": digestBody(s.Body, s.Origin, nil),
			"facts": s.Facts, "control": s.Control}, nil
	case addr.Table:
		t := c.Table(a)
		if t == nil {
			return missing(a)
		}
		form := map[string]any{"kind": "table", "source": t.Source.String(), "body": digestBody(t.Body, t.Origin, nil)}
		if len(t.Key) > 0 {
			form["key"] = t.Key
		}
		if len(t.Columns) > 0 {
			form["columns"] = t.Columns
		}
		return form, nil
	case addr.Stream:
		s := c.Stream(a)
		if s == nil {
			return missing(a)
		}
		table, err := c.digestForm(s.Table)
		if err != nil {
			return nil, err
		}
		form := map[string]any{"kind": "stream", "table": table, "to": s.To.String(), "target": s.Target, "app_id": s.AppID,
			"read": digestBody(s.Read, s.Origin, diag.Path{"read"})}
		set(form, "path", s.Path, "")
		set(form, "bootstrap", s.Bootstrap, BootstrapNone)
		set(form, "on_data_loss", s.OnDataLoss, OnDataLossFail)
		set(form, "granularity", s.Granularity, GranularityHour)
		return form, nil
	case addr.Silver:
		s := c.Silver(a)
		if s == nil {
			return missing(a)
		}
		stream := c.Stream(s.From)
		if stream == nil {
			return missing(s.From)
		}
		table, err := c.digestForm(stream.Table)
		if err != nil {
			return nil, err
		}
		form := map[string]any{"kind": "silver", "type": s.Type, "table": table, "bronze": stream.Target, "to": s.To.String(),
			"target": s.Target, "body": digestBody(s.Body, s.Origin, nil)}
		set(form, "path", s.Path, "")
		return form, nil
	case addr.Check:
		k := c.Check(a)
		if k == nil {
			return missing(a)
		}
		silver := c.Silver(k.Silver)
		if silver == nil {
			return missing(k.Silver)
		}
		return map[string]any{"kind": "check", "type": k.Type, "silver": silver.Target, "body": digestBody(k.Body, k.Origin, nil)}, nil
	}
	return nil, fmt.Errorf("digest of %q: no such kind of address", a)
}

func set(form map[string]any, name, value, byDefault string) {
	if value != byDefault && value != "" {
		form[name] = value
	}
}

// digestBody turns a body into plain maps and lists without nulls, defaults,
// secrets, and values that are not known (only an offline evaluation has any).
func digestBody(v cty.Value, origin Origin, path diag.Path) any {
	if v == cty.NilVal || !v.IsKnown() || v.IsNull() || origin.Sensitive[path.String()] || origin.Defaults[path.String()] {
		return nil
	}
	t := v.Type()
	switch {
	case t == cty.String:
		return v.AsString()
	case t == cty.Bool:
		return v.True()
	case t == cty.Number:
		return map[string]any{"number": numberText(v.AsBigFloat())}
	case t.IsObjectType() || t.IsMapType():
		out := map[string]any{}
		for name, part := range v.AsValueMap() {
			if form := digestBody(part, origin, append(path[:len(path):len(path)], name)); form != nil {
				out[name] = form
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case t.IsTupleType() || t.IsListType() || t.IsSetType():
		out := []any{}
		for i, part := range v.AsValueSlice() {
			out = append(out, digestBody(part, origin, append(path[:len(path):len(path)], i)))
		}
		return out
	}
	return t.FriendlyName()
}

func numberText(f *big.Float) string {
	if i, exact := f.Int64(); exact == big.Exact {
		return strconv.FormatInt(i, 10)
	}
	// Binary, because decimals of a number such as 1e99999999 take hours.
	return f.Text('p', 0)
}
