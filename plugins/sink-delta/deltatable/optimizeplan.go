package deltatable

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// OptimizeSpec says which data files Optimize rewrites. The zero value packs
// files that are small for the table's writer and drops what deletion vectors
// have taken.
type OptimizeSpec struct {
	// TargetSize is how large files are to become, in bytes; 0 is
	// Options.TargetFileSize. A file of three quarters of that counts as done.
	TargetSize int64
	// MinFiles is how many files must come together before they are packed into
	// one; 0 is 2, the least.
	MinFiles int
	// PurgeAbove is the share of deleted rows above which a file is rewritten
	// without them; 0 is 0.05, a negative one leaves deletion vectors alone.
	PurgeAbove float64
	// DryRun writes nothing.
	DryRun bool
}

func (o OptimizeSpec) withDefaults(opts Options) (OptimizeSpec, error) {
	switch {
	case o.TargetSize < 0:
		return o, fmt.Errorf("a target size of %d bytes", o.TargetSize)
	case o.MinFiles < 0 || o.MinFiles == 1:
		return o, fmt.Errorf("files are packed from two on, not from %d", o.MinFiles)
	case o.PurgeAbove >= 1:
		return o, fmt.Errorf("a share of deleted rows of %g: it is below 1", o.PurgeAbove)
	}
	if o.TargetSize == 0 {
		o.TargetSize = opts.TargetFileSize
	}
	if o.MinFiles == 0 {
		o.MinFiles = 2
	}
	if o.PurgeAbove == 0 {
		o.PurgeAbove = 0.05
	}
	return o, nil
}

// bin is a set of files of one partition that become one file.
type bin struct {
	sources []*deltalog.Add
	size    int64 // of the rows that are left, estimated
	bytes   int64 // of the files
	purges  bool  // one of them has too many deleted rows
}

// candidate is a file that may be rewritten.
type candidate struct {
	add    *deltalog.Add
	left   int64 // bytes of the rows that are left, estimated
	purges bool
}

// planOptimize packs the files that are worth it into bins, in the order in
// which they were written: rows that came together stay together, and so do the
// ranges of their statistics. What comes out of a bin is no candidate, or has
// none to go with, so that a second Optimize finds nothing.
func (s *Snapshot) planOptimize(spec OptimizeSpec) ([]bin, error) {
	byPartition := map[string][]candidate{}
	for add := range s.log.Files(nil) {
		c := candidate{add: add, left: add.Size}
		if dv := add.DeletionVector; dv != nil {
			// A file with a deletion vector says how many rows it has (Delta
			// protocol: Writer Requirements for Deletion Vectors); of one that
			// does not, nothing is known but that it is worth a look.
			share := 1.0
			if rows, ok := add.NumRecords(); ok && rows > 0 {
				share = min(1, float64(dv.Cardinality)/float64(rows))
			}
			c.left = int64(float64(add.Size) * (1 - share))
			c.purges = spec.PurgeAbove >= 0 && share > spec.PurgeAbove
		}
		if c.purges || c.left < spec.TargetSize/4*3 {
			key, err := s.partitionKey(add)
			if err != nil {
				return nil, err
			}
			byPartition[key] = append(byPartition[key], c)
		}
	}
	var bins []bin
	for _, key := range slices.Sorted(maps.Keys(byPartition)) {
		files := byPartition[key]
		slices.SortFunc(files, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(a.add.ModificationTime, b.add.ModificationTime), strings.Compare(a.add.Path, b.add.Path))
		})
		var open bin
		end := func() {
			if open.purges || len(open.sources) >= spec.MinFiles {
				bins = append(bins, open)
			}
			open = bin{}
		}
		for _, f := range files {
			if len(open.sources) > 0 && open.size+f.left > spec.TargetSize {
				end()
			}
			open.sources = append(open.sources, f.add)
			open.size += f.left
			open.bytes += f.add.Size
			open.purges = open.purges || f.purges
		}
		end()
	}
	return bins, nil
}

// partitionKey is equal for files of the same partition, though the log may have
// its values in different words.
func (s *Snapshot) partitionKey(a *deltalog.Add) (string, error) {
	var b strings.Builder
	for _, name := range s.log.PartitionColumns() {
		v, err := s.log.PartitionValue(a, name)
		if err != nil {
			return "", fmt.Errorf("data file %q, partition column %q: %w", a.Path, name, err)
		}
		f, _ := s.log.Schema().Field(name)
		text, err := deltalog.FormatPartitionValue(v, f.Type)
		if err != nil {
			return "", fmt.Errorf("data file %q, partition column %q: %w", a.Path, name, err)
		}
		if text == nil || *text == "" { // an empty text is NULL
			b.WriteString("null,")
		} else {
			fmt.Fprintf(&b, "%q,", *text)
		}
	}
	return b.String(), nil
}
