// Package limits reads from the environment how much a package and a transfer may need.
package limits

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/getmodules"
)

// The variables that set limits of packages and transfers. They are the user's: a repository has no say in how much of
// the user's disk it may fill. docs/spec/trust.md lists them.
const (
	MaxDownload   = "COTTER_MAX_DOWNLOAD"
	maxFilesVar   = "COTTER_MAX_FILES"
	maxEntriesVar = "COTTER_MAX_ENTRIES"
	maxDiskVar    = "COTTER_MAX_DISK"
	minRateVar    = "COTTER_MIN_RATE" // in bytes per second; -1 disables the check, for slow networks
)

// FromEnv returns the limits of a package, and of what a run may write to disk, in bytes. Those that are not set are zero.
// An error names the variable.
func FromEnv(env func(string) string) (l getmodules.Limits, disk int64, _ error) {
	var entries int64
	for _, v := range []struct {
		name, takes string
		parse       func(string) (int64, bool)
		value       *int64
	}{
		{MaxDownload, "a size such as 8GiB", parseSize, &l.DownloadBytes},
		{maxFilesVar, "a size such as 8GiB", parseSize, &l.TreeBytes},
		{maxEntriesVar, "a number of files, directories and links", parseCount, &entries},
		{maxDiskVar, "a size such as 8GiB", parseSize, &disk},
		{minRateVar, "a number of bytes per second", parseInt, &l.MinRate},
	} {
		text := env(v.name)
		if text == "" {
			continue
		}
		var ok bool
		if *v.value, ok = v.parse(text); !ok {
			return l, disk, fmt.Errorf("%s takes %s, got %q", v.name, v.takes, text)
		}
	}
	l.Entries = int(min(entries, math.MaxInt32))
	return l, disk, nil
}

func parseInt(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

func parseCount(text string) (int64, bool) {
	n, ok := parseInt(text)
	return n, ok && n > 0
}

// sizeUnits are in bytes, the largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// parseSize parses a number of bytes, or of a unit as in "8GiB".
func parseSize(text string) (int64, bool) {
	for _, unit := range sizeUnits {
		if number, ok := strings.CutSuffix(text, unit.name); ok {
			n, ok := parseCount(strings.TrimSpace(number))
			return n * unit.bytes, ok && n <= math.MaxInt64/unit.bytes
		}
	}
	return parseCount(text)
}

// Raise returns the setting, as NAME=VALUE, that raises a limit far enough, or "" if no setting does.
func Raise(e *getmodules.LimitError) string {
	enough := e.Enough()
	if enough == 0 {
		return ""
	}
	var name string
	value := strconv.FormatInt(enough, 10)
	switch e.Limit {
	case getmodules.LimitDownload:
		name, value = MaxDownload, roundedSize(enough)
	case getmodules.LimitTree:
		name, value = maxFilesVar, roundedSize(enough)
	case getmodules.LimitEntries:
		name = maxEntriesVar
	case getmodules.LimitRun:
		name, value = maxDiskVar, roundedSize(enough)
	default:
		return ""
	}
	return name + "=" + value
}

// roundedSize rounds up to whole units, so that [parseSize] returns at least as much.
func roundedSize(bytes int64) string {
	for _, unit := range sizeUnits {
		if bytes >= unit.bytes {
			return fmt.Sprintf("%d%s", (bytes+unit.bytes-1)/unit.bytes, unit.name)
		}
	}
	return strconv.FormatInt(bytes, 10)
}
