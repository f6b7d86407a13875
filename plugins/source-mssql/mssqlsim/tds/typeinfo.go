package tds

import (
	"fmt"
	"strings"
)

// The TDS versions as LOGIN7 names them, without their revision (Microsoft: [MS-TDS] LOGIN7, TDSVersion).
const (
	ver71  = 0x71000000
	ver72  = 0x72000000
	ver73  = 0x73000000
	ver73b = 0x730B0000 // brought NBCROW
	ver74  = 0x74000004
	ver80  = 0x08000000 // named by clients that opened the connection with TLS
)

// typeInfo appends TYPE_INFO (Microsoft: [MS-TDS] TYPE_INFO) of a type that can be sent to the client.
// database is where a UDT lives.
func typeInfo(b []byte, t Type, database string) ([]byte, error) {
	if t.Fixed {
		return append(b, fixedID(t)), nil
	}
	b = append(b, t.ID)
	switch t.ID {
	case IDIntN, IDBitN, IDFloatN, IDMoneyN, IDDateTimeN, IDGUID:
		b = append(b, byte(t.Size))
	case IDDecimalN, IDNumericN:
		if t.Prec < 1 || t.Prec > 38 || t.Scale > t.Prec {
			return b, fmt.Errorf("%s: no such precision and scale", t)
		}
		b = append(b, byte(t.Size), t.Prec, t.Scale)
	case IDDate:
	case IDTime, IDDateTime2, IDDateTimeOffset:
		if t.Scale > 7 {
			return b, fmt.Errorf("%s: the scale is from 0 to 7", t)
		}
		b = append(b, t.Scale)
	case IDVarBinary, IDBinary, IDVarChar, IDChar, IDNVarChar, IDNChar:
		size := uint16(t.Size)
		if t.Size < 0 {
			size = 0xFFFF
		} else if t.Size > 8000 {
			return b, fmt.Errorf("%s: longer than 8000 bytes", t)
		}
		b = u16(b, size)
		if t.isText() {
			b = t.Collation.append(b)
		}
	case IDXML:
		b = append(b, 0) // no schema collection
	case IDUDT:
		b = u16(b, t.udtBytes())
		b = bVarChar(b, database)
		b = bVarChar(b, "sys")
		b = bVarChar(b, t.Name)
		b = usVarChar(b, "") // the .NET name, which only a client with the assembly needs
	case IDText, IDNText:
		b = t.Collation.append(u32(b, uint32(t.Size)))
	case IDImage, IDVariant:
		b = u32(b, uint32(t.Size))
	default:
		return b, fmt.Errorf("%s cannot be sent", t)
	}
	return b, nil
}

// udtBytes is MAX_BYTE_SIZE of a UDT: values of geometry and geography have no limit (Microsoft: [MS-TDS] CLR Instances;
// hierarchyid data type method reference, on 892 bytes). Values go as partially length-prefixed bytes in both cases.
func (t *Type) udtBytes() uint16 {
	if t.Name == "hierarchyid" {
		return 892
	}
	return 0xFFFF
}

// hasTable tells whether a column of the type names its table.
func (t *Type) hasTable() bool { return t.ID == IDText || t.ID == IDNText || t.ID == IDImage }

// tableName names the table of a text, ntext or image column, wholly qualified; TDS 7.2 made it a list of parts, of which
// there is at least one (Microsoft: [MS-TDS] COLMETADATA, TableName).
func tableName(b []byte, table []string, ver uint32) []byte {
	if ver < ver72 {
		return usVarChar(b, strings.Join(table, "."))
	}
	if len(table) == 0 {
		table = []string{""}
	}
	b = append(b, byte(len(table)))
	for _, part := range table {
		b = usVarChar(b, part)
	}
	return b
}

// forVersion is the type that a client of an older version is sent in place of t (Microsoft: [MS-TDS] Data Types and
// SQL Server's documentation of each type under "backward compatibility for down-level clients").
func forVersion(t Type, ver uint32) Type {
	if ver < ver73 {
		digits := 0
		if t.Scale > 0 {
			digits = 1 + int(t.Scale)
		}
		switch t.ID {
		case IDDate:
			t = NVarChar(10)
		case IDTime:
			t = NVarChar(8 + digits)
		case IDDateTime2:
			t = NVarChar(19 + digits)
		case IDDateTimeOffset:
			t = NVarChar(26 + digits)
		}
	}
	if ver < ver72 {
		switch {
		case t.ID == IDVarChar && t.Size < 0:
			t = Type{ID: IDText, Size: Text.Size, Collation: t.Collation}
		case t.ID == IDNVarChar && t.Size < 0, t.ID == IDXML:
			t = Type{ID: IDNText, Size: NText.Size, Collation: t.Collation}
		case t.ID == IDVarBinary && t.Size < 0, t.ID == IDUDT:
			t = Image
		}
	}
	return t
}

// typeInfo reads TYPE_INFO of a parameter.
func (d *decoder) typeInfo() (t Type) {
	d.short = false
	t.ID = d.u8()
	if f, ok := fixedType(t.ID); ok {
		return f
	}
	oneOf := func(n int, sizes ...int) {
		for _, s := range sizes {
			if n == s {
				return
			}
		}
		d.fail("%s of %d bytes", t, n)
	}
	switch t.ID {
	case IDNull:
	case IDIntN:
		t.Size = int(d.u8())
		oneOf(t.Size, 1, 2, 4, 8)
	case IDBitN:
		t.Size = int(d.u8())
		oneOf(t.Size, 1)
	case IDGUID:
		t.Size = int(d.u8())
		oneOf(t.Size, 16)
	case IDFloatN, IDMoneyN, IDDateTimeN:
		t.Size = int(d.u8())
		oneOf(t.Size, 4, 8)
		if t.ID == IDMoneyN {
			t.Scale = 4
		}
	case IDDecimalN, IDNumericN:
		t.Size, t.Prec, t.Scale = int(d.u8()), d.u8(), d.u8()
		if t.Prec < 1 || t.Prec > 38 || t.Scale > t.Prec || t.Size < 2 || t.Size > 17 {
			d.fail("%s of %d bytes", t, t.Size)
		}
	case IDDate:
		t.Size = 3
	case IDTime, IDDateTime2, IDDateTimeOffset:
		t.Scale = d.u8()
		if t.Scale > 7 {
			d.fail("%s: the scale is from 0 to 7", t)
		}
		t.Size = timeSize(t.Scale) + map[byte]int{IDTime: 0, IDDateTime2: 3, IDDateTimeOffset: 5}[t.ID]
	case IDVarBinary, IDBinary, IDVarChar, IDChar, IDNVarChar, IDNChar:
		t.Size = int(d.u16())
		if t.Size == 0xFFFF {
			t.Size = -1
		}
		if t.isText() {
			t.Collation = d.collation()
		}
	case oldVarBinary, oldBinary, oldVarChar, oldChar:
		t.Size = int(d.u8())
		t.ID = map[byte]byte{oldVarBinary: IDVarBinary, oldBinary: IDBinary, oldVarChar: IDVarChar, oldChar: IDChar}[t.ID]
		d.short = true
	case IDText, IDNText:
		t.Size = int(d.u32())
		t.Collation = d.collation()
	case IDImage, IDVariant:
		t.Size = int(d.u32())
	case IDUDT:
		d.ucs2(int(d.u8())) // database
		d.ucs2(int(d.u8())) // schema
		t.Size, t.Name = -1, d.ucs2(int(d.u8()))
	case IDXML:
		if d.u8() != 0 { // database, owner and name of the collection follow
			d.fail("%w", unbuilt("xml of a schema collection"))
		}
		t.Size = -1
	case tableType:
		d.fail("%w", unbuilt("table-valued parameters"))
	default:
		d.fail("data type 0x%02X is not known", t.ID)
	}
	return t
}

// tableType is the type of a table-valued parameter (Microsoft: [MS-TDS] TVPTYPE).
const tableType = 0xF3

// The types of TDS before 7.0, with a length of one byte; jTDS still sends some.
const (
	oldVarBinary = 0x25
	oldVarChar   = 0x27
	oldBinary    = 0x2D
	oldChar      = 0x2F
)
