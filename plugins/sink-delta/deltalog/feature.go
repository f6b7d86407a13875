package deltalog

import (
	"fmt"
	"slices"
	"strings"
)

// Names of table features (Delta protocol: Valid Feature Names in Table
// Features).
const (
	featAppendOnly      = "appendOnly"
	featInvariants      = "invariants"
	featCheck           = "checkConstraints"
	featGenerated       = "generatedColumns"
	featDefaults        = "allowColumnDefaults"
	featCDF             = "changeDataFeed"
	featMapping         = "columnMapping"
	featIdentity        = "identityColumns"
	featDV              = "deletionVectors"
	featRowTracking     = "rowTracking"
	featNTZ             = "timestampNtz"
	featDomain          = "domainMetadata"
	featV2Checkpoint    = "v2Checkpoint"
	featIcebergV1       = "icebergCompatV1"
	featIcebergV2       = "icebergCompatV2"
	featClustering      = "clustering"
	featVacuumCheck     = "vacuumProtocolCheck"
	featICT             = "inCommitTimestamp"
	featTypeWidening    = "typeWidening"
	featTypeWideningPre = "typeWidening-preview"
)

// feature is what this package knows of a table feature.
type feature struct {
	name string
	// reader features stand in both lists, others only in the writers'.
	reader bool
	// legacy is the writer version below 7 that brings the feature, 0 if none.
	legacy int
	// write says whether a table with the feature may be written. It returns
	// "" if so, else what stands in the way. nil means never.
	write func(m *Metadata, s *Struct) string
}

func always(*Metadata, *Struct) string { return "" }

// unlessColumn allows writing as long as no field has a metadata key that
// begins so.
func unlessColumn(key string) func(*Metadata, *Struct) string {
	return func(_ *Metadata, s *Struct) (why string) {
		walkFields(s, nil, func(path []string, f *Field) bool {
			for k := range f.Metadata {
				if strings.HasPrefix(k, key) {
					why = fmt.Sprintf("column %q uses it", strings.Join(path, "."))
					return false
				}
			}
			return true
		})
		return why
	}
}

func unlessProperty(name string) func(*Metadata, *Struct) string {
	return func(m *Metadata, _ *Struct) string {
		if Properties(m.Configuration).Bool(name, false) {
			return name + " is true"
		}
		return ""
	}
}

// features lists what this package can read and what it can write. A feature
// that is not here is unknown: a table that needs it for reading is refused, one
// that needs it for writing is read only.
var features = []feature{
	{name: featAppendOnly, legacy: 2, write: always}, // honoured by Commit
	{name: featInvariants, legacy: 2, write: unlessColumn(metaInvariants)},
	{name: featCheck, legacy: 3, write: func(m *Metadata, _ *Struct) string {
		for name := range m.Configuration {
			if strings.HasPrefix(name, propConstraintPrefix) {
				return "the table has the constraint " + strings.TrimPrefix(name, propConstraintPrefix)
			}
		}
		return ""
	}},
	{name: featGenerated, legacy: 4, write: unlessColumn(metaGeneration)},
	// Commits that only add rows need no change data files (Delta protocol: Add
	// CDC File); Commit refuses the others.
	{name: featCDF, legacy: 4, write: always},
	{name: featMapping, reader: true, legacy: 5, write: func(m *Metadata, _ *Struct) string {
		if m.Configuration[PropColumnMappingMode] == string(MappingID) {
			return "column mapping by id can be read only"
		}
		return ""
	}},
	{name: featIdentity, legacy: 6, write: unlessColumn(metaIdentity)},
	{name: featDefaults, write: unlessColumn(metaDefault)},
	{name: featDV, reader: true, write: always},
	{name: featNTZ, reader: true, write: always},
	{name: featV2Checkpoint, reader: true, write: always}, // V1 checkpoints stay allowed
	{name: featTypeWidening, reader: true, write: always},
	{name: featTypeWideningPre, reader: true, write: always},
	{name: featVacuumCheck, reader: true, write: always}, // nothing is vacuumed here
	{name: featICT, write: always},
	{name: featDomain, write: always}, // domains are kept as they are
	{name: featIcebergV1, write: unlessProperty(propIcebergV1)},
	{name: featIcebergV2, write: unlessProperty(propIcebergV2)},
	{name: featRowTracking},
	{name: featClustering},
}

func featureNamed(name string) *feature {
	for i := range features {
		if features[i].name == name {
			return &features[i]
		}
	}
	return nil
}

// legacyFeatures are those that a writer version below 7 brings.
func legacyFeatures(writerVersion int) []string {
	var names []string
	for _, f := range features {
		if f.legacy != 0 && f.legacy <= writerVersion {
			names = append(names, f.name)
		}
	}
	return names
}

// checkProtocol reports a protocol that breaks its own rules.
func checkProtocol(p *Protocol) error {
	switch {
	case p.MinReaderVersion < 1 || p.MinWriterVersion < 1:
		return fmt.Errorf("%w: protocol versions %d and %d; they begin at 1", ErrCorrupt, p.MinReaderVersion, p.MinWriterVersion)
	case p.MinReaderVersion == 3 && p.MinWriterVersion < 7:
		return fmt.Errorf("%w: reader version 3 with writer version %d; it needs 7", ErrCorrupt, p.MinWriterVersion)
	case p.MinReaderVersion < 3 && len(p.ReaderFeatures) > 0:
		return fmt.Errorf("%w: reader version %d has a list of features; only 3 may", ErrCorrupt, p.MinReaderVersion)
	case p.MinWriterVersion < 7 && len(p.WriterFeatures) > 0:
		return fmt.Errorf("%w: writer version %d has a list of features; only 7 may", ErrCorrupt, p.MinWriterVersion)
	}
	return nil
}

// checkRead reports what in the protocol keeps this package from reading.
func checkRead(p *Protocol) error {
	if p.MinReaderVersion > 3 {
		return &UnsupportedError{Reading: true, Version: p.MinReaderVersion}
	}
	if err := checkProtocol(p); err != nil {
		return err
	}
	var unknown []string
	for _, name := range p.ReaderFeatures {
		if f := featureNamed(name); f == nil || !f.reader {
			unknown = append(unknown, name)
		}
	}
	if unknown != nil {
		return &UnsupportedError{Reading: true, Features: unknown}
	}
	return nil
}

// checkWrite reports what keeps this package from writing a table.
func checkWrite(p *Protocol, m *Metadata, s *Struct) error {
	if err := checkRead(p); err != nil {
		return err
	}
	if p.MinWriterVersion > 7 {
		return &UnsupportedError{Version: p.MinWriterVersion}
	}
	names := p.WriterFeatures
	if p.MinWriterVersion < 7 {
		names = legacyFeatures(p.MinWriterVersion)
	}
	refused := &UnsupportedError{}
	var details []string
	for _, name := range names {
		f := featureNamed(name)
		if f == nil || f.write == nil {
			refused.Features = append(refused.Features, name)
			continue
		}
		if why := f.write(m, s); why != "" {
			refused.Features = append(refused.Features, name)
			details = append(details, why)
		}
	}
	if refused.Features == nil {
		return nil
	}
	refused.Detail = strings.Join(details, "; ")
	return refused
}

// supports reports whether the protocol has a feature, by its list or by its
// version.
func (p *Protocol) supports(name string) bool {
	f := featureNamed(name)
	if f == nil {
		return slices.Contains(p.WriterFeatures, name)
	}
	if p.MinWriterVersion < 7 {
		return f.legacy != 0 && f.legacy <= p.MinWriterVersion
	}
	return slices.Contains(p.WriterFeatures, name)
}

// Supports reports whether the table has a feature, for example
// "deletionVectors", by its feature list or by its version.
func (p *Protocol) Supports(feature string) bool { return p.supports(feature) }

// with returns a protocol that has the features too: the lowest that can say
// so, never below what it was.
func (p *Protocol) with(names ...string) *Protocol {
	var missing []string
	for _, name := range names {
		if !p.supports(name) && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if missing == nil {
		return p
	}
	n := &Protocol{MinReaderVersion: p.MinReaderVersion, MinWriterVersion: 7}
	n.ReaderFeatures = slices.Clone(p.ReaderFeatures)
	n.WriterFeatures = slices.Clone(p.WriterFeatures)
	if p.MinWriterVersion < 7 {
		n.WriterFeatures = legacyFeatures(p.MinWriterVersion)
	}
	n.WriterFeatures = append(n.WriterFeatures, missing...)
	readers := false
	for _, name := range missing {
		if f := featureNamed(name); f != nil && f.reader {
			readers = true
		}
	}
	if readers && n.MinReaderVersion < 3 {
		n.MinReaderVersion = 3
		n.ReaderFeatures = []string{}
	}
	if n.MinReaderVersion == 3 {
		// A reader feature stands in both lists, those of old versions too.
		for _, name := range n.WriterFeatures {
			if f := featureNamed(name); f != nil && f.reader && !slices.Contains(n.ReaderFeatures, name) {
				n.ReaderFeatures = append(n.ReaderFeatures, name)
			}
		}
	}
	slices.Sort(n.WriterFeatures)
	slices.Sort(n.ReaderFeatures)
	return n
}

func (p *Protocol) equal(o *Protocol) bool {
	return p.MinReaderVersion == o.MinReaderVersion && p.MinWriterVersion == o.MinWriterVersion &&
		slices.Equal(p.ReaderFeatures, o.ReaderFeatures) && slices.Equal(p.WriterFeatures, o.WriterFeatures)
}

// requiredFeatures are the features that a schema and properties call for.
func requiredFeatures(m *Metadata, s *Struct) []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var visit func(t Type)
	visit = func(t Type) {
		switch t := t.(type) {
		case *Struct:
			for _, f := range t.Fields {
				if _, ok := f.Metadata[metaTypeChanges]; ok {
					add(featTypeWidening)
				}
				visit(f.Type)
			}
		case *Array:
			visit(t.Element)
		case *Map:
			visit(t.Key)
			visit(t.Value)
		case Primitive:
			switch t {
			case TimestampNTZ:
				add(featNTZ)
			case Variant:
				add("variantType")
			}
		}
	}
	visit(s)
	props := Properties(m.Configuration)
	for name, feature := range map[string]string{
		PropAppendOnly: featAppendOnly, PropDeletionVectors: featDV, PropTypeWidening: featTypeWidening,
		PropInCommitTimestamps: featICT, PropChangeDataFeed: featCDF, PropRowTracking: featRowTracking,
		propIcebergV1: featIcebergV1, propIcebergV2: featIcebergV2,
	} {
		if props.Bool(name, false) {
			add(feature)
		}
	}
	if mode := m.Configuration[PropColumnMappingMode]; mode != "" && mode != string(MappingNone) {
		add(featMapping)
	}
	if m.Configuration["delta.checkpointPolicy"] == "v2" {
		add(featV2Checkpoint)
	}
	for name := range m.Configuration {
		if strings.HasPrefix(name, propConstraintPrefix) {
			add(featCheck)
		}
	}
	return names
}
