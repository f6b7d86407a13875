package deltalog

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// parseActions reads a file of actions, one a line, and calls visit for each.
// Blank lines and actions without a known name are passed over. name is for
// errors.
func parseActions(name string, data []byte, visit func(a *Action) error) error {
	line := 0
	for len(data) > 0 {
		line++
		text := data
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			text, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			continue
		}
		a, err := parseAction(text)
		if err != nil {
			return fmt.Errorf("%w: %s, line %d: %w", ErrCorrupt, name, line, err)
		}
		if err := visit(a); err != nil {
			return err
		}
	}
	return nil
}

// parseAction reads one line.
func parseAction(text []byte) (*Action, error) {
	if text[0] != '{' {
		return nil, fmt.Errorf("an action is a JSON object, not %.20q", text)
	}
	a := new(Action)
	if err := json.Unmarshal(text, a); err != nil {
		return nil, err
	}
	switch {
	case a.Add != nil && a.Add.Path == "":
		return nil, fmt.Errorf("add without a path")
	case a.Remove != nil && a.Remove.Path == "":
		return nil, fmt.Errorf("remove without a path")
	case a.Txn != nil && a.Txn.AppID == "":
		return nil, fmt.Errorf("txn without an appId")
	case a.DomainMetadata != nil && a.DomainMetadata.Domain == "":
		return nil, fmt.Errorf("domainMetadata without a domain")
	}
	return a, nil
}

// UnmarshalJSON reads what this package knows of commitInfo. Its content is
// free, so a field of an unexpected type counts as missing.
func (c *CommitInfo) UnmarshalJSON(data []byte) error {
	*c = CommitInfo{Raw: bytes.Clone(data)}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	read := func(key string, into any) { _ = json.Unmarshal(fields[key], into) }
	read("timestamp", &c.Timestamp)
	read("inCommitTimestamp", &c.InCommitTimestamp)
	read("operation", &c.Operation)
	read("operationParameters", &c.OperationParameters)
	read("readVersion", &c.ReadVersion)
	read("isolationLevel", &c.IsolationLevel)
	read("isBlindAppend", &c.IsBlindAppend)
	read("userMetadata", &c.UserMetadata)
	read("engineInfo", &c.EngineInfo)
	read("txnId", &c.TxnID)
	var metrics map[string]json.RawMessage
	read("operationMetrics", &metrics)
	for name, raw := range metrics {
		if c.OperationMetrics == nil {
			c.OperationMetrics = map[string]string{}
		}
		text := string(raw)
		_ = json.Unmarshal(raw, &text) // numbers and objects stay as they are
		c.OperationMetrics[name] = text
	}
	return nil
}

// MarshalJSON writes commitInfo as Spark does.
func (c CommitInfo) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		InCommitTimestamp   *int64                     `json:"inCommitTimestamp,omitempty"`
		Timestamp           int64                      `json:"timestamp"`
		Operation           string                     `json:"operation,omitempty"`
		OperationParameters map[string]json.RawMessage `json:"operationParameters"`
		ReadVersion         *int64                     `json:"readVersion,omitempty"`
		IsolationLevel      string                     `json:"isolationLevel,omitempty"`
		IsBlindAppend       *bool                      `json:"isBlindAppend,omitempty"`
		OperationMetrics    map[string]string          `json:"operationMetrics,omitempty"`
		UserMetadata        *string                    `json:"userMetadata,omitempty"`
		EngineInfo          string                     `json:"engineInfo,omitempty"`
		TxnID               string                     `json:"txnId,omitempty"`
	}{
		c.InCommitTimestamp, c.Timestamp, c.Operation, nonNil(c.OperationParameters), c.ReadVersion,
		c.IsolationLevel, c.IsBlindAppend, c.OperationMetrics, c.UserMetadata, c.EngineInfo, c.TxnID,
	})
}

func nonNil[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}

// MarshalJSON writes an add with the maps that must not be null.
func (a Add) MarshalJSON() ([]byte, error) {
	type plain Add
	p := plain(a)
	p.PartitionValues = nonNil(p.PartitionValues)
	return marshal(p)
}

// MarshalJSON writes metaData with the maps and lists that must not be null.
func (m Metadata) MarshalJSON() ([]byte, error) {
	type plain Metadata
	p := plain(m)
	p.Format.Options = nonNil(p.Format.Options)
	p.Configuration = nonNil(p.Configuration)
	if p.PartitionColumns == nil {
		p.PartitionColumns = []string{}
	}
	return marshal(p)
}
