package treewalk

import (
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
)

// Package is the package of a call, as far as it is needed to find modules in it.
type Package struct {
	Key string // of the call
	// Entry is that of the call in the lock. If the lock has none, only its Key is set.
	Entry lockfile.Module
	// Files are where the package is read. FinalPath is the call's directory after the run, as in modules.json. RealPath
	// is the same without symbolic links; stock tools record the local modules that the package calls with it.
	Files               *project.Files
	FinalPath, RealPath string
	// Local says that the package is an archive on the user's own machine. Its configuration may refer to other
	// archives and directories there.
	Local bool
	// Content is what an installing run knows of the package; nil if it was not compared with its hashes.
	Content Content
}

// Content is the content of a package that a run has fetched or compared.
type Content interface {
	// CheckDir returns an error unless the package can have a module in a directory; "" is the root.
	CheckDir(subdir string) error
	// T1 returns the hash of the package; "" if it is not known.
	T1() hashing.Hash
}

func (p *Package) checkDir(subdir string) error {
	if p.Content == nil {
		return p.Files.CheckDir(subdir)
	}
	return p.Content.CheckDir(subdir)
}

func (p *Package) t1() hashing.Hash {
	if p.Content == nil {
		return ""
	}
	return p.Content.T1()
}
