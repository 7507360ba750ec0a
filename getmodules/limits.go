package getmodules

import (
	"cmp"

	"github.com/cotterpin/cotter/internal/treewriter"
)

const (
	// defaultDownloadBytes bounds what is transferred for one package.
	defaultDownloadBytes = 512 << 20
	// maxRatio bounds what an archive expands to. Text compresses below 20:1,
	// and what compresses better than this was made to.
	maxRatio = 100
	// ratioFloor is how much may be unpacked before maxRatio counts, for
	// packages that are small and very repetitive.
	ratioFloor = 64 << 20
)

// Limits bounds one package. Zero fields mean the defaults; exceeding one is an
// error that wraps [ErrTooLarge], never a truncation.
type Limits struct {
	// DownloadBytes bounds the archive, or what git transfers, or what a
	// [Getter] writes beside a directory: 512 MiB.
	DownloadBytes int64
	// TreeBytes bounds the sum of the files' sizes: 1 GiB.
	TreeBytes int64
	// FileBytes bounds the size of one file: 256 MiB.
	FileBytes int64
	// Entries bounds the number of files, directories and links: 100,000.
	Entries int
	// MinRate is how many bytes a second a transfer must bring at least, on
	// average over each window of time but the first: 30 s for what is fetched
	// by http and from OCI registries, 2 minutes for git and for a [Getter], or
	// [Fetcher].StallTimeout. 0 means 4096; if it is negative, any byte in a
	// window will do, for links that are really slow. Falling below it is an
	// error, after the usual retries. What the installed git fetches by ssh is
	// not measured.
	MinRate int64
	// Portable makes names an error that only some systems can hold. They are
	// a warning otherwise, where they can be held at all.
	Portable bool
}

func (l Limits) download() int64 { return cmp.Or(l.DownloadBytes, defaultDownloadBytes) }

func (l Limits) tree() treewriter.Limits {
	return treewriter.Limits{
		TreeBytes: l.TreeBytes,
		FileBytes: l.FileBytes,
		Entries:   l.Entries,
		Portable:  l.Portable,
	}
}
