package deltalog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/google/uuid"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

// Facts of the format (Delta protocol: Deletion Vector Format).
const (
	dvFileVersion = 1
	dvMagic       = 1681511377
	dvUUIDLength  = 20      // characters of a UUID in z85
	dvMaxBytes    = 1 << 30 // of one vector; a bitmap of 2^33 rows is that long
)

// ID tells deletion vectors of one file apart (Delta protocol: Derived Fields,
// uniqueId). A nil vector has the empty id.
func (d *DeletionVector) ID() string {
	if d == nil {
		return ""
	}
	id := d.StorageType + d.PathOrInlineDV
	if d.Offset != nil {
		id += "@" + strconv.Itoa(int(*d.Offset))
	}
	return id
}

// file is the path of the vector's file: relative to the table, encoded as in
// an Add, for "u", and as it stands for "p".
func (d *DeletionVector) file() (string, error) {
	switch d.StorageType {
	case "p":
		return d.PathOrInlineDV, nil
	case "u":
		at := len(d.PathOrInlineDV) - dvUUIDLength
		if at < 0 {
			return "", fmt.Errorf("%w: the deletion vector %q is too short for a UUID", ErrCorrupt, d.PathOrInlineDV)
		}
		raw, err := decodeZ85(d.PathOrInlineDV[at:])
		if err != nil {
			return "", fmt.Errorf("%w: the deletion vector %q: %w", ErrCorrupt, d.PathOrInlineDV, err)
		}
		name := "deletion_vector_" + uuid.UUID(raw).String() + ".bin"
		if at > 0 {
			name = d.PathOrInlineDV[:at] + "/" + name
		}
		return EncodePath(name), nil
	}
	return "", fmt.Errorf("%w: a deletion vector has the storage type %q, not u, i or p", ErrCorrupt, d.StorageType)
}

// ReadDeletionVector loads a deletion vector: the positions of the rows, from
// 0, that the file has lost. Size, checksum, format and cardinality are checked;
// an error names the vector's file. A nil vector gives an empty bitmap.
func (t *Table) ReadDeletionVector(ctx context.Context, dv *DeletionVector) (*roaring64.Bitmap, error) {
	if dv == nil {
		return roaring64.New(), nil
	}
	if dv.SizeInBytes < 4 || dv.SizeInBytes > dvMaxBytes || dv.Cardinality < 0 {
		return nil, fmt.Errorf("%w: a deletion vector of %d bytes and %d rows", ErrCorrupt, dv.SizeInBytes, dv.Cardinality)
	}
	var payload []byte
	name := "inline deletion vector"
	if dv.StorageType == "i" {
		raw, err := decodeZ85(dv.PathOrInlineDV)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrCorrupt, name, err)
		}
		// z85 works in fours, so there may be up to three bytes of padding.
		size := int(dv.SizeInBytes)
		if len(raw) < size || len(raw) > size+3 {
			return nil, fmt.Errorf("%w: %s: size mismatch: %d bytes, its descriptor says %d", ErrCorrupt, name, len(raw), size)
		}
		payload = raw[:size]
	} else {
		file, err := dv.file()
		if err != nil {
			return nil, err
		}
		st, object, err := t.Locate(ctx, file)
		if err != nil {
			return nil, fmt.Errorf("deletion vector: %w", err)
		}
		name = "deletion vector file " + object
		if payload, err = readVectorFile(ctx, st, object, dv); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	rows, err := decodeVector(payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCorrupt, name, err)
	}
	if n := rows.GetCardinality(); n != uint64(dv.Cardinality) {
		return nil, fmt.Errorf("%w: %s: cardinality mismatch: %d rows, its descriptor says %d", ErrCorrupt, name, n, dv.Cardinality)
	}
	return rows, nil
}

// readVectorFile returns one vector of a file, its frame checked.
func readVectorFile(ctx context.Context, st store.Store, object string, dv *DeletionVector) ([]byte, error) {
	var offset int64
	if dv.Offset != nil {
		offset = int64(*dv.Offset)
	}
	if offset < 1 {
		return nil, fmt.Errorf("%w: the offset is %d, but the first byte is the file's version", ErrCorrupt, offset)
	}
	size := int64(dv.SizeInBytes)
	frame, err := st.GetRange(ctx, object, offset, 4+size+4)
	if errors.Is(err, store.ErrNotExist) {
		return nil, fmt.Errorf("%w: the deletion vector is missing: %w", ErrCorrupt, err)
	}
	if err != nil {
		return nil, err
	}
	if int64(len(frame)) != 4+size+4 {
		return nil, fmt.Errorf("%w: the file ends inside the deletion vector at %d", ErrCorrupt, offset)
	}
	if got := binary.BigEndian.Uint32(frame); int64(got) != size {
		return nil, fmt.Errorf("%w: deletion vector size mismatch: the file says %d, its descriptor %d", ErrCorrupt, got, size)
	}
	payload := frame[4 : 4+size]
	if want, got := binary.BigEndian.Uint32(frame[4+size:]), crc32.ChecksumIEEE(payload); want != got {
		return nil, fmt.Errorf("%w: deletion vector checksum mismatch: %08x, the file says %08x", ErrCorrupt, got, want)
	}
	version, err := st.GetRange(ctx, object, 0, 1)
	if err != nil {
		return nil, err
	}
	if len(version) != 1 || version[0] != dvFileVersion {
		return nil, fmt.Errorf("%w: deletion vector file of format %v, not %d", ErrCorrupt, version, dvFileVersion)
	}
	return payload, nil
}

// decodeVector reads magic and bitmap.
func decodeVector(payload []byte) (rows *roaring64.Bitmap, err error) {
	if len(payload) < 12 {
		return nil, fmt.Errorf("%d bytes are too few for a bitmap", len(payload))
	}
	if magic := binary.LittleEndian.Uint32(payload); magic != dvMagic {
		return nil, fmt.Errorf("the magic number is %d, not %d", magic, dvMagic)
	}
	// The roaring library allocates what the header asks for, and panics on
	// numbers that no bitmap has.
	if buckets := binary.LittleEndian.Uint64(payload[4:]); buckets > uint64(len(payload)-12)/12 {
		return nil, fmt.Errorf("%d buckets in %d bytes", buckets, len(payload))
	}
	defer func() {
		if p := recover(); p != nil {
			rows, err = nil, fmt.Errorf("bitmap cannot be read: %v", p)
		}
	}()
	rows = roaring64.New()
	read := bytes.NewReader(payload[4:])
	if _, err := rows.ReadFrom(read); err != nil {
		return nil, fmt.Errorf("bitmap cannot be read: %w", err)
	}
	if read.Len() != 0 {
		return nil, fmt.Errorf("%d bytes behind the bitmap", read.Len())
	}
	if err := rows.Validate(); err != nil {
		return nil, fmt.Errorf("bitmap is not valid: %w", err)
	}
	return rows, nil
}

// encodeVector writes magic and bitmap.
func encodeVector(rows *roaring64.Bitmap) ([]byte, error) {
	rows.RunOptimize()
	data, err := rows.ToBytes()
	if err != nil {
		return nil, err
	}
	return append(binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(data)), dvMagic), data...), nil
}

// DeletionVectors collects the deletion vectors of one commit into one file.
type DeletionVectors struct {
	table *Table
	id    uuid.UUID
	data  []byte
}

// NewDeletionVectors begins a file for the deletion vectors of one commit.
func (t *Table) NewDeletionVectors() *DeletionVectors {
	return &DeletionVectors{table: t, id: uuid.New(), data: []byte{dvFileVersion}}
}

// Add appends a vector and returns its descriptor, which is valid once Close
// has returned nil. The bitmap may be stored in a smaller form meanwhile, its
// content is not changed. An empty one is an error: a file without lost rows has
// no vector.
func (d *DeletionVectors) Add(rows *roaring64.Bitmap) (*DeletionVector, error) {
	if rows.IsEmpty() {
		return nil, fmt.Errorf("%w: an empty deletion vector", ErrInvalidCommit)
	}
	payload, err := encodeVector(rows)
	if err != nil {
		return nil, fmt.Errorf("write deletion vector: %w", err)
	}
	if int64(len(d.data))+int64(len(payload)) > dvMaxBytes {
		return nil, fmt.Errorf("%w: more than %d bytes of deletion vectors in one file", ErrInvalidCommit, dvMaxBytes)
	}
	offset := int32(len(d.data))
	d.data = binary.BigEndian.AppendUint32(d.data, uint32(len(payload)))
	d.data = append(d.data, payload...)
	d.data = binary.BigEndian.AppendUint32(d.data, crc32.ChecksumIEEE(payload))
	return &DeletionVector{
		StorageType: "u", PathOrInlineDV: encodeZ85(d.id[:]), Offset: &offset,
		SizeInBytes: int32(len(payload)), Cardinality: int64(rows.GetCardinality()),
	}, nil
}

// Path is the file's object path, to delete it if the commit does not happen;
// empty while nothing was added.
func (d *DeletionVectors) Path() string {
	if len(d.data) == 1 {
		return ""
	}
	return d.table.object("deletion_vector_" + d.id.String() + ".bin")
}

// Close writes the file, if anything was added.
func (d *DeletionVectors) Close(ctx context.Context) error {
	if d.Path() == "" {
		return nil
	}
	if err := d.table.store.Put(ctx, d.Path(), d.data); err != nil {
		return fmt.Errorf("write deletion vectors of table %q: %w", d.table.path, err)
	}
	return nil
}
