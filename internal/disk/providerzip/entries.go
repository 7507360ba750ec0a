package providerzip

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/disk/zipfile"
)

// MaxArchive is in bytes, far above the largest published archives, which have 150 MB.
const MaxArchive = 1 << 30

const (
	maxFile    = 2 << 30
	maxTree    = 4 << 30
	maxEntries = 10_000
	maxRatio   = 100
	ratioFloor = 64 << 20
	// maxDirectory bounds the archive's directory, which is kept in memory, in bytes.
	maxDirectory = 16 << 20
)

// checkEntries checks the entries, and returns the files sorted by name, and the size of all.
func checkEntries(entries []*zipfile.Entry, size int64) (files []*zipfile.Entry, sum int64, _ error) {
	var total int64
	kinds := make(map[string]fs.FileMode, len(entries))
	for _, f := range entries {
		if reason := entryFault(f); reason != "" {
			return nil, 0, &RefusedError{Entry: f.Name, Reason: reason}
		}
		name, kind := strings.TrimSuffix(f.Name, "/"), f.Mode.Type()
		if before, found := kinds[name]; found {
			return nil, 0, &RefusedError{Entry: name, Reason: clash(before, kind)}
		}
		kinds[name] = kind
		if kind.IsDir() {
			continue
		}
		if total += f.Size(); total > maxTree {
			return nil, 0, &RefusedError{Reason: fmt.Sprintf("unpacks to more than %d bytes", int64(maxTree))}
		}
		files = append(files, f)
	}
	if total > ratioFloor && total/maxRatio > size {
		return nil, 0, &RefusedError{Reason: fmt.Sprintf("unpacks to more than %d times its size", maxRatio)}
	}
	for _, f := range files {
		for dir := path.Dir(f.Name); dir != "."; dir = path.Dir(dir) {
			if kind, found := kinds[dir]; found && !kind.IsDir() {
				return nil, 0, &RefusedError{Entry: dir, Reason: clash(kind, fs.ModeDir)}
			}
		}
	}
	slices.SortFunc(files, func(a, b *zipfile.Entry) int { return strings.Compare(a.Name, b.Name) })
	return files, total, nil
}

func clash(before, kind fs.FileMode) string {
	if before == kind {
		return "occurs twice"
	}
	return "is a file and a directory"
}

// entryFault returns why an entry on its own is refused, or "".
func entryFault(f *zipfile.Entry) string {
	name, isDir := strings.CutSuffix(f.Name, "/")
	if reason := pathsafe.ProviderName(name); reason != "" {
		return "has a name that " + reason
	}
	switch mode := f.Mode; {
	case mode.Type() != 0 && mode.Type() != fs.ModeDir:
		return fmt.Sprintf("is neither a file nor a directory, but %s", kindOf(mode))
	case isDir && f.Size() > 0:
		return "is a directory with content"
	case f.Size() > maxFile:
		return fmt.Sprintf("has more than %d bytes", int64(maxFile))
	}
	return ""
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "something else"
}
