package cdc

import (
	"fmt"
	"unicode/utf16"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Table is a user table. Rows are held with a place for every column the table ever had: the place is the column's
// id, which is never used again, and place 0 holds the row's number in tables without a key. All fields are guarded by
// the database's lock.
type Table struct {
	db       *Database
	ID       int32
	Schema   string
	Name     string
	KeyName  string
	columns  []*column
	lastID   int      // id of the newest column
	key      []int    // column ids
	indexes  []*index // of the primary key too
	checks   []*check
	foreign  []*foreignKey
	rows     *tree // the committed version
	rowNum   int64
	identity identity
	locks    map[string]*Tx
	kept     []*keptReads // of each transaction that keeps what it has read
	shaped   int64        // the database's count of changes of shape after the newest of this table
	shaper   *Tx          // who made that in a transaction
	inst     []*Instance
	hooks    []func() error
	created  int64 // ticks
}

type column struct {
	tsql.ColumnDef
	id      int
	compute func(sqltype.Row) (sqltype.Value, error) // of a computed column
	def     int32                                    // object id of its DEFAULT
}

// at gives the value of a column; rows older than the column do not have it.
func at(row sqltype.Row, id int) sqltype.Value {
	if id < len(row) {
		return row[id]
	}
	return sqltype.Value{}
}

// FullName gives schema and name.
func (t *Table) FullName() string { return t.Schema + "." + t.Name }

// database gives the name of the database that the table is in for who asks; temporary ones are in tempdb.
func (t *Table) database() string {
	if isTemporary(t.Name) {
		return tempdb
	}
	return t.db.Name
}

// fullName is FullName behind the name of the database.
func (t *Table) fullName() string { return t.database() + "." + t.FullName() }

func (db *Database) newTable(def tsql.TableDef) (*Table, error) {
	t := &Table{db: db, ID: db.objectID(), Schema: def.Name.Schema, Name: def.Name.Object, locks: map[string]*Tx{}}
	if len(def.Columns) == 0 {
		return nil, fmt.Errorf("table %s has no columns", t.FullName())
	}
	for _, d := range def.Columns {
		if err := t.addColumn(d); err != nil {
			return nil, err
		}
	}
	if err := t.bind(); err != nil {
		return nil, err
	}
	if err := t.fits(); err != nil {
		return nil, err
	}
	if def.Key != nil {
		pk := tsql.IndexDef{Name: def.KeyName, Kind: tsql.PrimaryKey, Unique: true}
		// A key that no statement made has a name that tests can count on, where that
		// fits a sysname and no table of another schema has it.
		if name := "PK_" + t.Name; pk.Name == "" && len(utf16.Encode([]rune(name))) <= 128 && !db.constraintNamed(name) {
			pk.Name = name
		}
		for _, k := range def.Key {
			pk.Columns = append(pk.Columns, tsql.IndexColumn{Name: k})
		}
		if c := t.missing(def.Key); c != "" {
			return nil, noColumn(c)
		}
		for _, k := range def.Key {
			t.column(k).Nullable = false
		}
		def.Indexes = append([]tsql.IndexDef{pk}, def.Indexes...)
	}
	t.rows = newTree(t.compareKeys())
	for _, d := range tsql.Ordered(def.Indexes) {
		if err := t.addIndex(d); err != nil {
			return nil, err
		}
	}
	for _, c := range def.Checks {
		if err := t.addCheck(c); err != nil {
			return nil, err
		}
	}
	for _, k := range def.ForeignKeys {
		if err := t.addForeignKey(k, t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// fits refuses a table whose rows do not fit on a page though all their values of variable length are empty (Microsoft: CREATE TABLE
// (Transact-SQL), Limitations; Estimate the size of a table; error 1701 in sys.messages).
func (t *Table) fits() error {
	fixed, bits, n := int64(0), 0, 0
	for _, c := range t.columns {
		if c.Computed && !c.Persisted || c.Sparse {
			continue
		}
		n++
		switch k := c.Type.Kind; {
		case k == sqltype.Bit:
			bits++
		case k == sqltype.Char, k == sqltype.NChar, k == sqltype.Binary, k == sqltype.RowVersion, c.Type.Class() != sqltype.ClassString && c.Type.Class() != sqltype.ClassBinary && c.Type.Class() != sqltype.ClassOther:
			if length, _, _ := size(c.Type); length > 0 {
				fixed += length
			}
		}
	}
	overhead := int64(4 + 2 + (n+7)/8)
	if all := fixed + int64((bits+7)/8) + overhead; all > 8060 {
		return sqltype.Errorf(1701, "Creating or altering table '%s' failed because the minimum row size would be %d, including %d bytes of internal overhead. This exceeds the maximum allowable table row size of 8060 bytes.", t.Name, all, overhead)
	}
	return nil
}

func noColumn(name string) error {
	return sqltype.Errorf(1911, "Column name '%s' does not exist in the target table or view.", name)
}

// missing gives the first name that is no column.
func (t *Table) missing(names []string) string {
	for _, n := range names {
		if t.column(n) == nil {
			return n
		}
	}
	return ""
}

func (t *Table) addColumn(d tsql.ColumnDef) error {
	if t.column(d.Name) != nil {
		return sqltype.Errorf(2705, "Column names in each table must be unique. Column name '%s' in table '%s' is specified more than once.", d.Name, t.FullName())
	}
	if d.Identity && d.Null {
		return sqltype.Errorf(8147, "Could not create IDENTITY attribute on nullable column '%s', table '%s'.", d.Name, t.Name)
	}
	if d.RowGUID && (d.Computed || d.Type.Kind != sqltype.UniqueIdentifier) {
		return sqltype.Errorf(2761, "The ROWGUIDCOL property can only be specified on the uniqueidentifier data type.")
	}
	for _, c := range t.columns {
		if d.RowGUID && c.RowGUID {
			return sqltype.Errorf(8196, "Duplicate column specified as ROWGUIDCOL.")
		}
		if d.Identity && c.Identity {
			return sqltype.Errorf(2744, "Multiple identity columns specified for table '%s'. Only one identity column per table is allowed.", t.Name)
		}
		if d.Type.Kind == sqltype.RowVersion && c.Type.Kind == sqltype.RowVersion {
			return sqltype.Errorf(2738, "A table can only have one timestamp column. Because table '%s' already has one, the column '%s' cannot be added.", t.Name, d.Name)
		}
	}
	t.lastID++
	c := &column{ColumnDef: d, id: t.lastID}
	if c.Identity {
		t.identity = newIdentity(&c.ColumnDef)
	}
	if c.Named != nil {
		c.def = t.db.objectID()
		if c.Named.Name == "" {
			named := *c.Named
			named.Name, c.Named = generatedName("DF", t.Name, c.Name, c.def), &named
		}
	}
	t.columns = append(t.columns, c)
	return nil
}

func (t *Table) column(name string) *column {
	for _, c := range t.columns {
		if sqltype.EqualName(c.Name, name) {
			return c
		}
	}
	return nil
}

func (t *Table) byID(id int) *column {
	for _, c := range t.columns {
		if c.id == id {
			return c
		}
	}
	return nil
}

// names gives those of columns.
func (t *Table) names(ids []int) (out []string) {
	for _, id := range ids {
		out = append(out, t.byID(id).Name)
	}
	return out
}

// keyPlaces gives the places of a row that identify it.
func (t *Table) keyPlaces() []int {
	if t.key == nil {
		return []int{0}
	}
	return t.key
}

func (t *Table) keyTypes() (types []sqltype.Type) {
	for _, id := range t.keyPlaces() {
		if id == 0 {
			types = append(types, sqltype.Of(sqltype.BigInt))
		} else {
			types = append(types, t.byID(id).Type)
		}
	}
	return types
}

func (t *Table) compareKeys() func(a, b sqltype.Row) int {
	places := t.keyPlaces()
	cmps := make([]func(a, b *sqltype.Value) int, len(places))
	for i, k := range t.keyTypes() {
		cmps[i] = sqltype.Comparer(k)
	}
	if len(places) == 1 {
		p, cmp := places[0], cmps[0]
		return func(a, b sqltype.Row) int { return cmp(&a[p], &b[p]) }
	}
	return func(a, b sqltype.Row) int {
		for i, p := range places {
			if c := cmps[i](&a[p], &b[p]); c != 0 {
				return c
			}
		}
		return 0
	}
}

// lockKey gives the name of a row's lock.
func (t *Table) lockKey(row sqltype.Row) string {
	var b []byte
	types := t.keyTypes()
	for i, p := range t.keyPlaces() {
		b = row[p].AppendKey(b, types[i])
	}
	return string(b)
}

// stored gives a row of the table from values in column order.
func (t *Table) stored(row sqltype.Row, rowNum int64) sqltype.Row {
	out := make(sqltype.Row, t.lastID+1)
	if t.key == nil {
		out[0] = sqltype.FromInt(rowNum)
	}
	for i, c := range t.columns {
		out[c.id] = row[i]
	}
	return out
}

// visible gives the values of a stored row in column order.
func (t *Table) visible(row sqltype.Row) sqltype.Row {
	out := make(sqltype.Row, len(t.columns))
	for i, c := range t.columns {
		out[i] = at(row, c.id)
	}
	return out
}

func (t *Table) describe() []tsql.Column {
	cols := make([]tsql.Column, len(t.columns))
	for i, c := range t.columns {
		cols[i] = c.Column
	}
	return cols
}

// fill completes a row that will be stored: identity, computed columns, rowversion; and checks NULLs. verb is that of the statement,
// "" for INSERT or UPDATE.
func (t *Table) fill(row sqltype.Row, insert bool, verb string) error {
	for i, c := range t.columns {
		switch {
		case c.Identity && insert:
			v, err := t.identity.take(row[i], c.Type)
			if err != nil {
				return err
			}
			row[i] = v
		case c.Type.Kind == sqltype.RowVersion:
			row[i] = sqltype.FromBytes(t.db.nextRowVersion())
		case c.compute != nil:
			v, err := c.compute(row)
			if err != nil {
				return err
			}
			row[i] = v
		}
		if !c.Nullable && row[i].IsNull() {
			verb := "UPDATE"
			if insert {
				verb = "INSERT"
			}
			return sqltype.Errorf(515, "Cannot insert the value NULL into column '%s', table '%s'; column does not allow nulls. %s fails.", c.Name, t.fullName(), verb)
		}
	}
	if len(t.checks) > 0 {
		return t.checked(row, insert, verb)
	}
	return nil
}
