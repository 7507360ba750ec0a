package limits_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/cli/limits"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
)

// environment returns the variables of lines NAME=VALUE.
func environment(lines ...string) func(string) string {
	return func(name string) string {
		for _, line := range lines {
			if key, value, _ := strings.Cut(line, "="); key == name {
				return value
			}
		}
		return ""
	}
}

func TestFromEnv(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]getmodules.Limits{
		"COTTER_MAX_DOWNLOAD=8GiB":   {DownloadBytes: 8 << 30},
		"COTTER_MAX_DOWNLOAD=1 MiB":  {DownloadBytes: 1 << 20},
		"COTTER_MAX_FILES=4096":      {TreeBytes: 4096},
		"COTTER_MAX_ENTRIES=1000000": {Entries: 1_000_000},
		"COTTER_MIN_RATE=-1":         {MinRate: -1},
		"COTTER_MAX_DISK=":           {},
	} {
		got, disk, err := limits.FromEnv(environment(line))
		if diff := cmp.Diff(want, got); diff != "" || disk != 0 || err != nil {
			t.Errorf("%s: disk %d, %v (-want +got):\n%s", line, disk, err, diff)
		}
	}
	if _, disk, err := limits.FromEnv(environment("COTTER_MAX_DISK=2KiB")); disk != 2<<10 || err != nil {
		t.Errorf("COTTER_MAX_DISK=2KiB: %d, %v", disk, err)
	}
	for _, line := range []string{
		"COTTER_MAX_DOWNLOAD=8GB", "COTTER_MAX_DOWNLOAD=0", "COTTER_MAX_FILES=-1", "COTTER_MAX_FILES=9999999999GiB", "COTTER_MAX_ENTRIES=1KiB", "COTTER_MAX_DISK=much",
		"COTTER_MIN_RATE=fast",
	} {
		name, value, _ := strings.Cut(line, "=")
		if _, _, err := limits.FromEnv(environment(line)); err == nil || !strings.HasPrefix(err.Error(), name+" takes ") || !strings.Contains(err.Error(), value) {
			t.Errorf("%s: %v, want an error with the name and the value", line, err)
		}
	}
}

// TestRaise checks that a setting that is advised is enough.
func TestRaise(t *testing.T) {
	t.Parallel()
	for _, limit := range []struct {
		kind  packagelimits.Limit
		value func(getmodules.Limits, int64) int64
	}{
		{getmodules.LimitDownload, func(l getmodules.Limits, _ int64) int64 { return l.DownloadBytes }},
		{getmodules.LimitTree, func(l getmodules.Limits, _ int64) int64 { return l.TreeBytes }},
		{getmodules.LimitEntries, func(l getmodules.Limits, _ int64) int64 { return int64(l.Entries) }},
		{getmodules.LimitRun, func(_ getmodules.Limits, disk int64) int64 { return disk }},
	} {
		for _, size := range []int64{1, 1025, 5<<20 + 1, 3 << 30} {
			over := &getmodules.LimitError{Limit: limit.kind, Max: 1, Size: size}
			setting := limits.Raise(over)
			l, disk, err := limits.FromEnv(environment(setting))
			if got := limit.value(l, disk); err != nil || got < over.Enough() || (setting == "") != (over.Enough() == 0) {
				t.Errorf("%v of %d: %q sets %d, %v; enough is %d", limit.kind, size, setting, got, err, over.Enough())
			}
		}
	}
	if setting := limits.Raise(&getmodules.LimitError{Limit: getmodules.LimitTree}); setting != "" {
		t.Errorf("without a size: %q", setting)
	}
}
