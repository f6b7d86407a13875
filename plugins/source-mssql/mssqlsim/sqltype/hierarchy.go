package sqltype

import (
	"strconv"
	"strings"
)

// toHierarchy reads the path of a hierarchyid, such as /1/3/, into its bits: of each label a prefix that tells its range,
// its value, and a one at its end; the last byte is filled with zeros (Microsoft: [MS-SSCLRT] HierarchyId, Patterns). Labels
// are whole numbers from 0 to 15 here.
func toHierarchy(v Value) (Value, error) {
	path := strings.TrimRight(v.s, " ")
	if !strings.HasPrefix(path, "/") || !strings.HasSuffix(path, "/") {
		return Value{}, Errorf(6522, "A .NET Framework error occurred during execution of user-defined routine or aggregate \"hierarchyid\": Microsoft.SqlServer.Types.HierarchyIdException: 24001: SqlHierarchyId.Parse failed because the input string '%s' is not a valid string representation of a SqlHierarchyId node.", v.s)
	}
	var bits strings.Builder
	for _, label := range strings.Split(strings.Trim(path, "/"), "/") {
		if label == "" && path == "/" {
			break
		}
		n, err := strconv.ParseUint(label, 10, 4)
		if err != nil {
			return Value{}, Unsupported("the label %q of a hierarchyid", label)
		}
		switch value := strconv.FormatUint(16+n, 2); { // four digits behind a one
		case n < 4:
			bits.WriteString("01" + value[3:] + "1")
		case n < 8:
			bits.WriteString("100" + value[3:] + "1")
		default:
			bits.WriteString("101" + value[2:] + "1")
		}
	}
	all := bits.String()
	all += strings.Repeat("0", (8-len(all)%8)%8)
	b := make([]byte, 0, len(all)/8)
	for ; all != ""; all = all[8:] {
		n, _ := strconv.ParseUint(all[:8], 2, 8)
		b = append(b, byte(n))
	}
	return FromString(string(b)), nil
}

// fromHierarchy gives the path of a hierarchyid: see toHierarchy.
func fromHierarchy(v Value) (string, error) {
	var bits strings.Builder
	for _, c := range []byte(v.s) {
		bits.WriteString(strconv.FormatUint(256+uint64(c), 2)[1:])
	}
	path := "/"
	for all := bits.String(); strings.Contains(all, "1"); {
		prefix, digits, base := 3, 3, uint64(8)
		switch {
		case strings.HasPrefix(all, "01"):
			prefix, digits, base = 2, 2, 0
		case strings.HasPrefix(all, "100"):
			digits, base = 2, 4
		case !strings.HasPrefix(all, "101"):
			return "", Unsupported("the hierarchyid 0x%X", v.s)
		}
		end := prefix + digits
		if len(all) <= end || all[end] != '1' {
			return "", Unsupported("the hierarchyid 0x%X", v.s)
		}
		n, err := strconv.ParseUint(all[prefix:end], 2, 8)
		if err != nil {
			return "", err
		}
		path += strconv.FormatUint(base+n, 10) + "/"
		all = all[end+1:]
	}
	return path, nil
}
