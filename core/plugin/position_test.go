package plugin

import (
	"testing"
	"time"
)

func TestCommitText(t *testing.T) {
	t.Parallel()
	tests := []struct{ rule, text, want string }{
		{"three digits stay", "2026-09-28T14:03:12.117", "2026-09-28T14:03:12.117"},
		{"a fraction is always written", "2026-09-28T14:03:12", "2026-09-28T14:03:12.000"},
		{"finer times are cut, never rounded up", "2026-09-28T14:03:12.117999", "2026-09-28T14:03:12.117"},
		{"unknown stays empty", "", ""},
	}
	for _, tt := range tests {
		p, err := ParsePosition("0x1", tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.rule, err)
		}
		if got := p.CommitText(); got != tt.want || p.Text != "0x1" || p.HasCommit != (tt.text != "") {
			t.Errorf("%s: got %q, want %q", tt.rule, got, tt.want)
		}
	}
	if _, err := ParsePosition("0x1", "yesterday"); err == nil {
		t.Error("a time that is none was accepted")
	}
	if got := At("0x1", time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))).CommitText(); got != "2026-01-02T02:04:05.000" {
		t.Errorf("times are UTC: got %s", got)
	}
}
