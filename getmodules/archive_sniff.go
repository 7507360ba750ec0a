package getmodules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// sniff returns the kind of archive that a file begins like. It is an error if
// kind is set and another one.
func (f *Fetcher) sniff(file io.ReaderAt, kind archiveKind) (archiveKind, error) {
	head := make([]byte, 512)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	head = head[:n]
	found := kindOf(head)
	switch {
	case n == 0:
		return "", fmt.Errorf("%w: the file is empty", ErrNotArchive)
	case found == "", found == kindTarXZ && f.XZ == nil:
		return "", fmt.Errorf("%w: it is %s", ErrNotArchive, describe(head))
	case kind != "" && found != kind:
		return "", fmt.Errorf("%w: it begins like %s, not %s", ErrNotArchive, found, kind)
	}
	return found, nil
}

// describe names what a file that is not a supported archive seems to be.
func describe(head []byte) string {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	switch {
	case bytes.HasPrefix(text, []byte("<")):
		return "HTML or XML, perhaps a login or error page"
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		return "JSON, perhaps an error message"
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return "xz, which is not supported"
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return "zstd, which is not supported"
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return "a tar file without compression, which is not supported"
	}
	return "none that is known"
}
