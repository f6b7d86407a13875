package tsql

// unbuiltModule gives the statement that a text begins with, when it makes a function, a view or a trigger: SQL Server takes all that
// follows for a part of it, whatever the parser makes of that (Microsoft: CREATE FUNCTION (Transact-SQL); SQL Server Utilities
// Statements - GO). "" is another text.
func unbuiltModule(sql string) string {
	var words []string
	for t := range eachToken(sql) {
		if t.blank {
			continue
		}
		words = append(words, lower(t.text))
		if len(words) == 4 {
			break
		}
	}
	var verb string
	var rest []string
	switch {
	case len(words) == 4 && words[0] == "create" && words[1] == "or" && words[2] == "alter":
		verb, rest = "CREATE OR ALTER ", words[3:]
	case len(words) > 1 && words[0] == "create":
		verb, rest = "CREATE ", words[1:]
	case len(words) > 1 && words[0] == "alter":
		verb, rest = "ALTER ", words[1:]
	default:
		return ""
	}
	switch rest[0] {
	case "function":
		return verb + "FUNCTION"
	case "view":
		return verb + "VIEW"
	case "trigger":
		return verb + "TRIGGER"
	}
	return ""
}
