package deltalog

import (
	"strconv"
	"strings"
	"time"
)

// Properties are the properties of a table, with getters for those that this
// package obeys. A value that does not parse counts as not set.
type Properties map[string]string

// Names of table properties.
const (
	PropAppendOnly          = "delta.appendOnly"
	PropCheckpointInterval  = "delta.checkpointInterval"
	PropColumnMappingMode   = "delta.columnMapping.mode"
	PropDeletionVectors     = "delta.enableDeletionVectors"
	PropTypeWidening        = "delta.enableTypeWidening"
	PropInCommitTimestamps  = "delta.enableInCommitTimestamps"
	PropChangeDataFeed      = "delta.enableChangeDataFeed"
	PropRowTracking         = "delta.enableRowTracking"
	PropIsolationLevel      = "delta.isolationLevel"
	PropDataSkippingColumns = "delta.dataSkippingNumIndexedCols"
	// PropDataSkippingStatsColumns names the columns that get statistics.
	PropDataSkippingStatsColumns = "delta.dataSkippingStatsColumns"
	PropDeletedFileRetention     = "delta.deletedFileRetentionDuration"
	PropTxnRetention             = "delta.setTransactionRetentionDuration"
	propMaxColumnID              = "delta.columnMapping.maxColumnId"
	propStatsAsJSON              = "delta.checkpoint.writeStatsAsJson"
	propStatsAsStruct            = "delta.checkpoint.writeStatsAsStruct"
	propICTEnablementVersion     = "delta.inCommitTimestampEnablementVersion"
	propICTEnablementTime        = "delta.inCommitTimestampEnablementTimestamp"
	propIcebergV1                = "delta.enableIcebergCompatV1"
	propIcebergV2                = "delta.enableIcebergCompatV2"
	propConstraintPrefix         = "delta.constraints."
	defaultCheckpointInterval    = 10
	defaultIndexedColumns        = 32
	defaultRetention             = 7 * 24 * time.Hour
)

// Bool is a property that is true or false; def when it is not set.
func (p Properties) Bool(name string, def bool) bool {
	switch strings.ToLower(p[name]) {
	case "true":
		return true
	case "false":
		return false
	}
	return def
}

// Int is a property that is a whole number; def when it is not set.
func (p Properties) Int(name string, def int64) int64 {
	if n, err := strconv.ParseInt(p[name], 10, 64); err == nil {
		return n
	}
	return def
}

// AppendOnly says that rows must not be changed or removed.
func (p Properties) AppendOnly() bool { return p.Bool(PropAppendOnly, false) }

// DeletionVectors says that new deletion vectors may be written.
func (p Properties) DeletionVectors() bool { return p.Bool(PropDeletionVectors, false) }

// TypeWidening says that column types may be widened.
func (p Properties) TypeWidening() bool { return p.Bool(PropTypeWidening, false) }

// IndexedColumns is how many leaf columns, from the first, get statistics; -1
// means all.
func (p Properties) IndexedColumns() int {
	return int(p.Int(PropDataSkippingColumns, defaultIndexedColumns))
}

// CheckpointInterval is the number of commits between checkpoints, at least 1.
func (p Properties) CheckpointInterval() int64 {
	return max(1, p.Int(PropCheckpointInterval, defaultCheckpointInterval))
}

// writeSerializable says that a commit may ignore blind appends of others.
func (p Properties) writeSerializable() bool {
	return strings.EqualFold(p[PropIsolationLevel], "WriteSerializable")
}

// deletedFileRetention is how long a removed file is remembered and kept.
func (p Properties) deletedFileRetention() time.Duration {
	if d, ok := parseInterval(p[PropDeletedFileRetention]); ok {
		return d
	}
	return defaultRetention
}

// parseInterval reads an interval as Spark writes it: "interval 1 week 2 days".
// Units of changing length (months, years) are not allowed there.
func parseInterval(text string) (time.Duration, bool) {
	units := map[string]time.Duration{
		"microsecond": time.Microsecond, "millisecond": time.Millisecond, "second": time.Second,
		"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour,
	}
	words := strings.Fields(strings.ToLower(text))
	if len(words) > 0 && words[0] == "interval" {
		words = words[1:]
	}
	if len(words) == 0 || len(words)%2 != 0 {
		return 0, false
	}
	var total time.Duration
	for i := 0; i < len(words); i += 2 {
		n, err := strconv.ParseInt(words[i], 10, 32)
		unit, ok := units[strings.TrimSuffix(words[i+1], "s")]
		if err != nil || !ok || n < 0 || time.Duration(n) > (1<<62)/unit {
			return 0, false
		}
		total += time.Duration(n) * unit
	}
	return total, total >= 0
}
