package deltalog

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

const hintName = "_last_checkpoint"

// hint is the content of _last_checkpoint (Delta protocol: Last Checkpoint File
// Schema). It saves listing the whole log and is never trusted.
type hint struct {
	Version       int64  `json:"version"`
	Size          int64  `json:"size"`
	Parts         int    `json:"parts,omitempty"`
	SizeInBytes   int64  `json:"sizeInBytes,omitempty"`
	NumOfAddFiles int64  `json:"numOfAddFiles,omitempty"`
	Checksum      string `json:"checksum,omitempty"`
}

// readHint returns the hint if it can be read and agrees with its checksum.
func (t *Table) readHint(ctx context.Context) (*hint, bool) {
	data, err := t.store.Get(ctx, t.object(logDir, hintName))
	if err != nil {
		if !errors.Is(err, store.ErrNotExist) {
			t.log.WarnContext(ctx, "the checkpoint hint of a Delta table cannot be read; the log is listed instead", "table", t.path, "error", err)
		}
		return nil, false
	}
	h, err := parseHint(data)
	if err != nil {
		t.log.WarnContext(ctx, "the checkpoint hint of a Delta table is not usable; the log is listed instead", "table", t.path, "error", err)
		return nil, false
	}
	return h, true
}

func parseHint(data []byte) (*hint, error) {
	h := &hint{Version: -1}
	if err := json.Unmarshal(data, h); err != nil {
		return nil, fmt.Errorf("%s: %w", hintName, err)
	}
	if h.Version < 0 {
		return nil, fmt.Errorf("%s names no version", hintName)
	}
	if h.Checksum != "" {
		sum, err := jsonChecksum(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", hintName, err)
		}
		if sum != h.Checksum {
			return nil, fmt.Errorf("%s: its checksum is %s, not %s", hintName, sum, h.Checksum)
		}
	}
	return h, nil
}

// encode writes the hint with its checksum.
func (h hint) encode() ([]byte, error) {
	h.Checksum = ""
	data, err := marshal(h)
	if err != nil {
		return nil, err
	}
	if h.Checksum, err = jsonChecksum(data); err != nil {
		return nil, err
	}
	return marshal(h)
}

// jsonChecksum is the MD5 of the canonical form of a JSON object without its
// top-level checksum (Delta protocol: JSON checksum).
func jsonChecksum(data []byte) (string, error) {
	text, err := canonicalJSON(data)
	if err != nil {
		return "", err
	}
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:]), nil
}

func canonicalJSON(data []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var pairs []canonicalPair
	if err := canonicalValue(d, "", 0, &pairs); err != nil {
		return "", err
	}
	if _, err := d.Token(); err != io.EOF {
		return "", fmt.Errorf("text behind the JSON value")
	}
	sort.Slice(pairs, func(i, j int) bool { return pairs[i].path < pairs[j].path })
	var b strings.Builder
	for i, p := range pairs {
		if i > 0 {
			if p.path == pairs[i-1].path {
				return "", fmt.Errorf("the key %s stands there twice", p.path)
			}
			b.WriteByte(',')
		}
		b.WriteString(p.path + "=" + p.value)
	}
	return b.String(), nil
}

type canonicalPair struct{ path, value string }

func canonicalValue(d *json.Decoder, path string, depth int, out *[]canonicalPair) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	leaf := func(value string) error {
		*out = append(*out, canonicalPair{path, value})
		return nil
	}
	switch v := token.(type) {
	case json.Delim:
		if depth >= maxNesting {
			return fmt.Errorf("nested more than %d levels", maxNesting)
		}
		step := func(name string) string {
			if path == "" {
				return name
			}
			return path + "+" + name
		}
		for i := 0; d.More(); i++ {
			name := fmt.Sprint(i)
			if v == '{' {
				key, err := d.Token()
				if err != nil {
					return err
				}
				text, _ := key.(string)
				if depth == 0 && text == "checksum" {
					var skipped json.RawMessage
					if err := d.Decode(&skipped); err != nil {
						return err
					}
					continue
				}
				name = quoteURL(text)
			}
			if err := canonicalValue(d, step(name), depth+1, out); err != nil {
				return err
			}
		}
		_, err := d.Token() // the closing delimiter
		return err
	case string:
		return leaf(quoteURL(v))
	case json.Number:
		return leaf(v.String())
	case bool:
		return leaf(fmt.Sprint(v))
	default:
		return leaf("null")
	}
}

// quoteURL percent-encodes all but the unreserved characters of RFC 3986.
func quoteURL(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
