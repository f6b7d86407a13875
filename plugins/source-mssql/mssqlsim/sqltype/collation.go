package sqltype

import "github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/collation"

// CollationName gives a collation's name as it is spelled, which may come in any case; empty is that of the database.
func CollationName(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	c, ok := collation.Find(name)
	if !ok {
		return "", Unsupported("the collation %s", name)
	}
	return c.Name, nil
}
