package diag

import (
	"fmt"
	"strings"
)

// Listed joins names for a sentence; a long list is cut and says so.
func Listed(names []string) string {
	const most = 12
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
