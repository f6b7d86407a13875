package sqltype

import (
	"errors"
	"fmt"
	"testing"
)

// The bytes are those that SQL Server stores for these paths (Microsoft: [MS-SSCLRT] HierarchyId).
func TestPathsOfHierarchies(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"/": "", "/0/": "48", "/1/": "58", "/1/1/": "5AC0", "/3/": "78", "/4/": "84", "/7/": "9C", "/8/": "A2", "/15/": "BE", "/1/2/3/": "5B5E"} {
		v, err := Convert(FromString(path), Str(VarChar, 20), Of(HierarchyID), 0)
		if got := fmt.Sprintf("%X", v.Str()); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", path, got, err, want)
		}
		back, err := Convert(v, Of(HierarchyID), Str(NVarChar, 20), 0)
		if err != nil || back.Str() != path {
			t.Errorf("%s comes back as %s, %v", path, back.Str(), err)
		}
	}
	for _, bytes := range []string{"\x01", "\xFF\xFF", "\x50"} { // no path, a label above 15, a label that does not end
		if v, err := Convert(FromBytes(bytes), Of(HierarchyID), Str(NVarChar, 20), 0); err == nil {
			t.Errorf("0x%X is %s", bytes, v.Str())
		}
	}
	for path, number := range map[string]int32{"1/": 6522, "": 6522, "/1": 6522, "/16/": 50001, "/1.1/": 50001, "/-1/": 50001, "//": 50001} {
		_, err := Convert(FromString(path), Str(VarChar, 20), Of(HierarchyID), 0)
		var e *Error
		if !errors.As(err, &e) || e.Number != number {
			t.Errorf("%q: %v, want error %d", path, err, number)
		}
	}
}
