package getmodules

import (
	"cmp"

	"github.com/cotterpin/cotter/internal/treewriter"
)

const (
	// defaultDownloadBytes bounds the transfer of one package.
	defaultDownloadBytes = 512 << 20
	// maxRatio bounds the expansion of an archive. Text compresses below 20:1;
	// a higher ratio than this one is deliberate.
	maxRatio = 100
	// ratioFloor is the unpacked size up to which maxRatio is not checked, for
	// small and very repetitive packages.
	ratioFloor = 64 << 20
)

// Limits bounds one package. Zero fields mean the defaults. Exceeding a limit is an
// error that wraps [ErrTooLarge]; nothing is truncated.
type Limits struct {
	// DownloadBytes bounds the archive, the transfer of git, or the files that a
	// [Getter] writes besides a directory. The default is 512 MiB.
	DownloadBytes int64
	// TreeBytes bounds the sum of the files' sizes. The default is 1 GiB.
	TreeBytes int64
	// FileBytes bounds the size of one file. The default is 256 MiB.
	FileBytes int64
	// Entries bounds the number of files, directories and links. The default is
	// 100,000.
	Entries int
	// MinRate is the minimum rate of a transfer in bytes per second, averaged
	// over each window of time except the first. The window is 30 s for http and
	// OCI registries and 2 minutes for git and a [Getter], or
	// [Fetcher].StallTimeout. 0 means 4096. If it is negative, one byte in a
	// window is enough, for very slow links. A lower rate is an error, after the
	// usual retries. Fetches by the installed git over ssh are not measured.
	MinRate int64
	// Portable makes names that not all systems support an error. Otherwise they
	// are a warning, if this system supports them.
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
