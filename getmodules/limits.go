package getmodules

import (
	"cmp"

	"github.com/cotterpin/cotter/internal/treewriter"
)

const (
	// defaultDownloadBytes bounds the transfer of one package.
	defaultDownloadBytes = 512 << 20
	// maxRatio bounds the expansion of an archive. Text compresses at less than 20:1; a ratio
	// above maxRatio is deliberate.
	maxRatio = 100
	// ratioFloor is the unpacked size up to which maxRatio is not checked, so that small and
	// very repetitive packages are allowed.
	ratioFloor = 64 << 20
)

// Limits bounds one package. Zero fields mean the defaults. Exceeding a limit is an error that
// wraps [ErrTooLarge]; nothing is truncated.
type Limits struct {
	// DownloadBytes bounds the archive, the transfer by git, or the temporary files that a
	// [Getter] writes next to a directory. The default is 512 MiB.
	DownloadBytes int64
	// TreeBytes bounds the sum of the files' sizes. The default is 1 GiB.
	TreeBytes int64
	// FileBytes bounds the size of one file. The default is 256 MiB.
	FileBytes int64
	// Entries bounds the number of files, directories and links. The default is
	// 100,000.
	Entries int
	// MinRate is the minimum rate of a transfer in bytes per second, averaged over each window
	// of time except the first. The window is [Fetcher].StallTimeout or, by default, 30 s for
	// http and OCI registries and 2 minutes for git and a [Getter]. 0 means 4096. If MinRate is
	// negative, one byte in a window is enough, for very slow links. A lower rate is an error,
	// after the usual retries. Fetches by the installed git over ssh are not measured.
	MinRate int64
	// HistoryCommits and HistoryBytes bound the commits that [Fetcher.Reachable] reads, and what
	// it transfers. The defaults are 50,000 and 64 MiB. Exceeding them is not an error: the
	// result is then [ReachUnknown].
	HistoryCommits int
	HistoryBytes   int64
	// Portable makes it an error if a name is not supported on all systems. Otherwise this is a
	// warning, if this system supports the name.
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
