package deltalog

import (
	"bytes"
	"encoding/json"
)

// marshal is json.Marshal without the escaping for HTML, which other readers of
// the log compare as text and people read.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
