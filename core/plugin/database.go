package plugin

// Database is who a source is.
type Database struct {
	// Identity and Alias are those of InspectResponse.
	Identity, Alias string
}

// Database is who answered.
func (r InspectResponse) Database() Database { return Database{r.Identity, r.Alias} }

// Same reports whether two are one database: they have one identity, or one has
// lost or not yet got the identity of the other and is known by its alias. Two
// that both have an identity beside an alias are told by the identity alone: a
// copy keeps what the alias is made of.
func (d Database) Same(other Database) bool {
	return d.Identity == other.Identity || d.isAliasOf(other) || other.isAliasOf(d)
}

func (d Database) isAliasOf(other Database) bool {
	return d.Alias == "" && d.Identity != "" && d.Identity == other.Alias
}
