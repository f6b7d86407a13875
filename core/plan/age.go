package plan

import (
	"fmt"
	"time"
)

// Age prints a duration in the unit that a person would take: seconds below two
// minutes, minutes below two hours, hours below two weeks, else days. What is
// negative, as clocks that differ make it, is "0 s".
func Age(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 14*24*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
