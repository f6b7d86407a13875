package deltalog

import "encoding/json"

// Action is one line of a commit: exactly one field is set. A line with an
// action that this package does not know decodes to an Action without any.
type Action struct {
	Add            *Add                `json:"add,omitempty"`
	Remove         *Remove             `json:"remove,omitempty"`
	Metadata       *Metadata           `json:"metaData,omitempty"`
	Protocol       *Protocol           `json:"protocol,omitempty"`
	Txn            *Txn                `json:"txn,omitempty"`
	DomainMetadata *DomainMetadata     `json:"domainMetadata,omitempty"`
	CommitInfo     *CommitInfo         `json:"commitInfo,omitempty"`
	CDC            *CDC                `json:"cdc,omitempty"`
	Checkpoint     *checkpointMetadata `json:"checkpointMetadata,omitempty"`
	Sidecar        *sidecar            `json:"sidecar,omitempty"`
}

// Add makes a logical file part of the table (Delta protocol: Add File and
// Remove File).
type Add struct {
	// Path is the file's place as the log has it: a URI, relative to the table
	// or absolute, percent-encoded. Table.Locate turns it into an object path,
	// EncodePath makes one.
	Path string `json:"path"`
	// PartitionValues holds one entry per partition column, keyed by physical
	// name; nil is NULL.
	PartitionValues map[string]*string `json:"partitionValues"`
	// Size is the file's length in bytes.
	Size int64 `json:"size"`
	// ModificationTime is in milliseconds since 1970 UTC.
	ModificationTime int64 `json:"modificationTime"`
	// DataChange is false when the commit only rearranges rows.
	DataChange bool `json:"dataChange"`
	// Stats is the statistics JSON, empty when there is none. See ParseStats.
	Stats string `json:"stats,omitempty"`
	// Tags are free text of the writer.
	Tags map[string]string `json:"tags,omitempty"`
	// DeletionVector marks the rows that are no longer there, nil means none.
	DeletionVector *DeletionVector `json:"deletionVector,omitempty"`
	// BaseRowID and DefaultRowCommitVersion belong to row tracking.
	BaseRowID               *int64 `json:"baseRowId,omitempty"`
	DefaultRowCommitVersion *int64 `json:"defaultRowCommitVersion,omitempty"`
	// ClusteringProvider names who clustered the file, if anyone did.
	ClusteringProvider string `json:"clusteringProvider,omitempty"`
}

// Remove takes a logical file out of the table.
type Remove struct {
	// Path is as in Add and must be the same text.
	Path string `json:"path"`
	// DeletionTimestamp is in milliseconds since 1970 UTC; the file may be
	// deleted when it is older than the retention time.
	DeletionTimestamp *int64 `json:"deletionTimestamp,omitempty"`
	// DataChange is as in Add.
	DataChange bool `json:"dataChange"`
	// ExtendedFileMetadata says that the next three are there.
	ExtendedFileMetadata bool               `json:"extendedFileMetadata,omitempty"`
	PartitionValues      map[string]*string `json:"partitionValues,omitempty"`
	Size                 *int64             `json:"size,omitempty"`
	Tags                 map[string]string  `json:"tags,omitempty"`
	Stats                string             `json:"stats,omitempty"`
	// DeletionVector is the one the file had: it is part of its identity.
	DeletionVector          *DeletionVector `json:"deletionVector,omitempty"`
	BaseRowID               *int64          `json:"baseRowId,omitempty"`
	DefaultRowCommitVersion *int64          `json:"defaultRowCommitVersion,omitempty"`
}

// Metadata is what the table is (Delta protocol: Change Metadata). A snapshot
// hands out its own; Clone it before changing anything.
type Metadata struct {
	ID          string `json:"id"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Format      Format `json:"format"`
	// SchemaString is the schema as Spark JSON; see ParseSchema.
	SchemaString string `json:"schemaString"`
	// PartitionColumns are display names, in order.
	PartitionColumns []string `json:"partitionColumns"`
	// Configuration holds the table properties.
	Configuration map[string]string `json:"configuration"`
	// CreatedTime is in milliseconds since 1970 UTC.
	CreatedTime *int64 `json:"createdTime,omitempty"`
}

// Format names the format of data files. Other readers fail when Options is
// missing, so it is always written.
type Format struct {
	Provider string            `json:"provider"`
	Options  map[string]string `json:"options"`
}

// Protocol says what a program must know to read or write the table (Delta
// protocol: Protocol Evolution). Feature lists are nil unless the version is 3
// (readers) or 7 (writers).
type Protocol struct {
	MinReaderVersion int      `json:"minReaderVersion"`
	MinWriterVersion int      `json:"minWriterVersion"`
	ReaderFeatures   []string `json:"readerFeatures,omitzero"`
	WriterFeatures   []string `json:"writerFeatures,omitzero"`
}

// Txn records how far an application has come (Delta protocol: Transaction
// Identifiers).
type Txn struct {
	AppID   string `json:"appId"`
	Version int64  `json:"version"`
	// LastUpdated is in milliseconds since 1970 UTC.
	LastUpdated *int64 `json:"lastUpdated,omitempty"`
}

// DomainMetadata is the configuration of a named domain. Names that begin with
// "delta." belong to the protocol.
type DomainMetadata struct {
	Domain        string `json:"domain"`
	Configuration string `json:"configuration"`
	Removed       bool   `json:"removed"`
}

// CommitInfo says who made a commit and how. The protocol leaves its content
// to the writer; Raw has everything that was there.
type CommitInfo struct {
	// Timestamp is the writer's clock in milliseconds since 1970 UTC.
	Timestamp int64
	// InCommitTimestamp is the commit's time on tables with that feature.
	InCommitTimestamp *int64
	Operation         string
	// OperationParameters are text or any other JSON, by the writer's taste.
	OperationParameters map[string]json.RawMessage
	// OperationMetrics are numbers as text.
	OperationMetrics map[string]string
	ReadVersion      *int64
	IsolationLevel   string
	IsBlindAppend    *bool
	UserMetadata     *string
	EngineInfo       string
	// TxnID is made anew for each commit attempt chain and tells a writer that
	// a commit is its own.
	TxnID string
	// Raw is the JSON object as it was read; nil in one that was not read.
	Raw json.RawMessage
}

// CDC names a file with the row changes of its commit. Readers of the table's
// rows ignore it.
type CDC struct {
	Path            string             `json:"path"`
	PartitionValues map[string]*string `json:"partitionValues"`
	Size            int64              `json:"size"`
	DataChange      bool               `json:"dataChange"`
}

// DeletionVector says where the row positions lie that a logical file has lost
// (Delta protocol: Deletion Vector Descriptor Schema).
type DeletionVector struct {
	// StorageType is "u" (a file named by a UUID), "i" (inline) or "p" (a file
	// named by an absolute path).
	StorageType string `json:"storageType"`
	// PathOrInlineDV is the place, or the vector itself, in the form that
	// StorageType says.
	PathOrInlineDV string `json:"pathOrInlineDv"`
	// Offset is where the vector begins in its file; nil for inline ones.
	Offset *int32 `json:"offset,omitempty"`
	// SizeInBytes is the length of the vector, without its size field and CRC.
	SizeInBytes int32 `json:"sizeInBytes"`
	// Cardinality is the number of rows it takes away.
	Cardinality int64 `json:"cardinality"`
}

// checkpointMetadata is the first row of a V2 checkpoint.
type checkpointMetadata struct {
	Version int64 `json:"version"`
}

// sidecar names a file with the file actions of a V2 checkpoint.
type sidecar struct {
	Path             string `json:"path"`
	SizeInBytes      int64  `json:"sizeInBytes"`
	ModificationTime int64  `json:"modificationTime"`
}

// Remove returns the action that takes the file out of the table, all its
// facts kept. deletedAt is in milliseconds since 1970 UTC.
func (a *Add) Remove(deletedAt int64, dataChange bool) *Remove {
	size := a.Size
	return &Remove{
		Path:                    a.Path,
		DeletionTimestamp:       &deletedAt,
		DataChange:              dataChange,
		ExtendedFileMetadata:    true,
		PartitionValues:         a.PartitionValues,
		Size:                    &size,
		Tags:                    a.Tags,
		Stats:                   a.Stats,
		DeletionVector:          a.DeletionVector,
		BaseRowID:               a.BaseRowID,
		DefaultRowCommitVersion: a.DefaultRowCommitVersion,
	}
}
