// Package packagelimits has the limits of module packages: how much is fetched and unpacked for a source address
// before the package is refused; and that of a run, which all its packages share ([Disk]). They keep a server or an
// author from filling the disk of a user. The page docs/spec/trust.md lists them, for users.
package packagelimits

import (
	"cmp"
	"fmt"
	"strconv"
)

// The defaults.
const (
	// DownloadBytes is the size of an archive or of a git transfer. The histories of large repositories are not
	// fetched, so what is transferred is smaller than what is unpacked.
	DownloadBytes = 2 << 30
	// TreeBytes is the size of all files of a package. Repositories that hold everything of a company are below it,
	// and build agents have that much space. A single file may have as much, because files are not read into memory.
	TreeBytes = 4 << 30
	// Entries are files, directories and links. Repositories with more than 100,000 are in use. A small archive could
	// use up the inodes of a disk.
	Entries = 500_000
	// PathBytes is the length of all paths together, which are in memory while a package is written: more than 130 bytes for
	// each of the most entries. The paths of real repositories have 70 on average.
	PathBytes = 64 << 20
	// RunBytes is what one run may write to disk. Twenty repositories with everything of a company are below it, and so
	// are copies of the largest providers in a hundred root modules.
	RunBytes = 64 << 30
	// RunVersions are versions, with their platforms, protocols and hashes, tags, and the [Values] of other texts that all servers
	// together list for one run. They take up to 200 MB. Thousands of modules and providers with the usual numbers are below it.
	RunVersions = 500_000
)

// The highest values to which users can raise the limits. Readers of stored packages rely on them, so a file in a cache
// that somebody has replaced can cost as much.
const (
	MaxBytes   = 8 << 30
	MaxEntries = 1_000_000
	// MaxRunBytes is larger than the disks of most machines.
	MaxRunBytes = 1 << 40
)

// Limit is what a limit is about.
type Limit string

// Bytes.
const (
	OfDownload Limit = "in the download"
	OfTree     Limit = "in all files"
	OfFile     Limit = "in one file"
	OfRun      Limit = "in all that one run writes"
	OfPaths    Limit = "in all paths"
)

// Numbers.
const (
	OfEntries Limit = "files, directories and links"
	OfLinks   Limit = "symbolic links"
	// OfVersions is for all listings of a run.
	OfVersions Limit = "versions and other values in all answers of servers to one run"
)

// Error says that a package exceeds a limit, alone or, for [OfRun], together with what the run has written before.
type Error struct {
	Limit Limit
	// Path is the entry at which the limit was exceeded, or "".
	Path string
	// Size is what the package has, in the unit of the limit; 0 if only known to be more than Max.
	Size int64
	Max  int64
}

func (e *Error) Error() string {
	text := fmt.Sprintf("more than %s %s", e.Limit.quantity(e.Max), e.Limit)
	if e.Size > 0 {
		text = fmt.Sprintf("%s %s, more than %s", e.Limit.quantity(e.Size), e.Limit, e.Limit.quantity(e.Max))
	}
	if e.Path != "" {
		return fmt.Sprintf("%q: %s", e.Path, text)
	}
	return text
}

// quantity uses whole units of bytes.
func (l Limit) quantity(n int64) string {
	switch {
	case l == OfEntries || l == OfLinks || l == OfVersions:
		return strconv.FormatInt(n, 10)
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Enough returns a value of the limit that the package probably fits in: its size if that is known, else twice the
// limit. It is 0 if no value is allowed that is large enough.
func (e *Error) Enough() int64 {
	highest := int64(MaxBytes)
	switch e.Limit {
	case OfEntries:
		highest = MaxEntries
	case OfRun:
		highest = MaxRunBytes
	}
	enough := cmp.Or(e.Size, min(2*e.Max, highest))
	if e.Limit == OfRun {
		enough = max(enough, min(2*e.Max, highest)) // the size is that of what was written until then
	}
	if e.Max >= highest || enough > highest {
		return 0
	}
	return enough
}
