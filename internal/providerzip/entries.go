package providerzip

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zip"

	"github.com/cotterpin/cotter/internal/pathsafe"
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

// From PKWARE's APPNOTE 6.3.10, 4.3.16.
const (
	endSize    = 22
	maxComment = 1<<16 - 1
)

var endMark = []byte("PK\x05\x06")

// checkEnd checks the size of the directory before it is read. The number of entries has only 16 bits.
func checkEnd(archive io.ReaderAt, size int64) error {
	start := max(0, size-endSize-maxComment)
	tail := make([]byte, size-start)
	if _, err := archive.ReadAt(tail, start); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(tail) < endSize {
		return &RefusedError{Reason: "is not a zip file"}
	}
	at := bytes.LastIndex(tail[:len(tail)-endSize+len(endMark)], endMark)
	if at < 0 {
		return &RefusedError{Reason: "is not a zip file, or is truncated"}
	}
	record := tail[at:]
	entries := binary.LittleEndian.Uint16(record[10:])
	length, offset := int64(binary.LittleEndian.Uint32(record[12:])), int64(binary.LittleEndian.Uint32(record[16:]))
	switch {
	case entries > maxEntries && entries != 1<<16-1, length > maxDirectory && length != 1<<32-1:
		return &RefusedError{Reason: fmt.Sprintf("has more than %d entries", maxEntries)}
	case entries == 1<<16-1 || length == 1<<32-1 || offset == 1<<32-1:
		return &RefusedError{Reason: "needs the 64-bit extension of zip"}
	case offset+length != start+int64(at):
		return &RefusedError{Reason: "is damaged: its directory is not where it should be"}
	}
	return nil
}

// checkEntries checks the entries, and returns the files sorted by name, and the size of all.
func checkEntries(entries []*zip.File, size int64) (files []*zip.File, sum int64, _ error) {
	if len(entries) > maxEntries {
		return nil, 0, &RefusedError{Reason: fmt.Sprintf("has more than %d entries", maxEntries)}
	}
	var total uint64
	kinds := make(map[string]fs.FileMode, len(entries))
	for _, f := range entries {
		if reason := entryFault(f); reason != "" {
			return nil, 0, &RefusedError{Entry: f.Name, Reason: reason}
		}
		name, kind := strings.TrimSuffix(f.Name, "/"), f.Mode().Type()
		if before, found := kinds[name]; found {
			return nil, 0, &RefusedError{Entry: name, Reason: clash(before, kind)}
		}
		kinds[name] = kind
		if kind.IsDir() {
			continue
		}
		if total += f.UncompressedSize64; total > maxTree {
			return nil, 0, &RefusedError{Reason: fmt.Sprintf("unpacks to more than %d bytes", int64(maxTree))}
		}
		files = append(files, f)
	}
	if total > ratioFloor && total/maxRatio > uint64(size) { //nolint:gosec // a size is positive
		return nil, 0, &RefusedError{Reason: fmt.Sprintf("unpacks to more than %d times its size", maxRatio)}
	}
	for _, f := range files {
		for dir := path.Dir(f.Name); dir != "."; dir = path.Dir(dir) {
			if kind, found := kinds[dir]; found && !kind.IsDir() {
				return nil, 0, &RefusedError{Entry: dir, Reason: clash(kind, fs.ModeDir)}
			}
		}
	}
	slices.SortFunc(files, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	return files, int64(total), nil //nolint:gosec // it is at most maxTree
}

func clash(before, kind fs.FileMode) string {
	if before == kind {
		return "occurs twice"
	}
	return "is a file and a directory"
}

// flagEncrypted is a general purpose flag.
const flagEncrypted = 1 << 0

// entryFault returns why an entry on its own is refused, or "".
func entryFault(f *zip.File) string {
	name, isDir := strings.CutSuffix(f.Name, "/")
	if reason := pathsafe.ProviderName(name); reason != "" {
		return "has a name that " + reason
	}
	switch mode := f.Mode(); {
	case mode.Type() != 0 && mode.Type() != fs.ModeDir:
		return fmt.Sprintf("is neither a file nor a directory, but %s", kindOf(mode))
	case mode.IsDir() != isDir:
		return "is a directory by its mode, and a file by its name"
	case f.Flags&flagEncrypted != 0:
		return "is encrypted"
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return fmt.Sprintf("is compressed by method %d", f.Method)
	case isDir && f.UncompressedSize64 > 0:
		return "is a directory with content"
	case f.UncompressedSize64 > maxFile:
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
