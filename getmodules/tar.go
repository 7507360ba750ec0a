package getmodules

import (
	"archive/tar"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

const (
	tarBlock = 512
	// maxTarHeaders bounds the extension headers in front of one entry, all
	// together: a long name takes 1 KiB. It is what archive/tar allows for each.
	maxTarHeaders = 1 << 20
	// maxTarGlobals bounds the global headers of an archive. git writes one.
	maxTarGlobals = 16
	// gzipReserved are the flags of a gzip file that stand for nothing.
	gzipReserved = 0xe0
)

func (a *unpacking) untarGzip() error {
	packed := bufio.NewReader(readerAt(a.ctx, a.file, 0, a.size))
	// RFC 1952 wants them to be zero. compress/gzip does not look, other
	// programs refuse the file.
	if head, err := packed.Peek(4); err == nil && head[3]&gzipReserved != 0 {
		return damaged("gzip: it has reserved flags")
	}
	member, err := gzip.NewReader(packed)
	if err != nil {
		return damaged("gzip: %w", err)
	}
	// Further members would be the rest of the tar file to some programs and
	// nothing to others.
	member.Multistream(false)
	return a.untarAll(member, packed)
}

func (a *unpacking) untarBzip2() error {
	packed := bufio.NewReader(readerAt(a.ctx, a.file, 0, a.size))
	return a.untarAll(bzip2.NewReader(packed), packed)
}

func (a *unpacking) untarXZ() error {
	packed := bufio.NewReader(readerAt(a.ctx, a.file, 0, a.size))
	plain, err := a.xz(packed)
	if err != nil {
		return damaged("%w", err)
	}
	return a.untarAll(plain, packed)
}

// untarAll unpacks a tar file, and checks that nothing follows it in the
// compressed file.
func (a *unpacking) untarAll(plain io.Reader, packed *bufio.Reader) error {
	if err := a.untar(a.bounded(plain)); err != nil {
		return err
	}
	if _, err := packed.ReadByte(); !errors.Is(err, io.EOF) {
		return damaged("something follows the compressed data")
	}
	return nil
}

// untar unpacks a tar file from a source that it reads to the end.
func (a *unpacking) untar(plain io.Reader) error {
	source := &countingReader{r: plain}
	archive := tar.NewReader(source)
	globals := 0
	for end := int64(0); ; { // of the last entry with its padding
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return tarEnd(source, end)
		}
		if err != nil {
			return damaged("tar: %w", err)
		}
		if source.n-end > maxTarHeaders+tarBlock {
			return damaged("tar: %q: more than %d bytes of headers", header.Name, maxTarHeaders)
		}
		if err := checkTarHeader(header); err != nil {
			return damaged("tar: %q: %w", header.Name, err)
		}
		if header.Typeflag == tar.TypeXGlobalHeader {
			if globals++; globals > maxTarGlobals {
				return damaged("tar: more than %d global headers", maxTarGlobals)
			}
		} else if err := a.untarEntry(header, archive); err != nil {
			return err
		}
		end = source.n + (tarBlock-source.n%tarBlock)%tarBlock
	}
}

func (a *unpacking) untarEntry(header *tar.Header, content io.Reader) error {
	mode, err := tarMode(header)
	if err != nil {
		return fmt.Errorf("%w: %q: %w", ErrUnsafeEntry, header.Name, err)
	}
	return a.add(entryName(header.Name, mode.IsDir()), mode, header.Linkname, &decodedReader{content})
}

// tarMode is an entry's type and permissions.
func tarMode(header *tar.Header) (fs.FileMode, error) {
	mode := fs.FileMode(header.Mode & 0o777)
	switch header.Typeflag {
	case tar.TypeReg:
		return mode, nil
	case tar.TypeDir:
		return mode | fs.ModeDir, nil
	case tar.TypeSymlink:
		return mode | fs.ModeSymlink, nil
	case tar.TypeLink:
		return 0, errors.New("it is a hard link")
	case tar.TypeChar, tar.TypeBlock:
		return 0, errors.New("it is a device")
	case tar.TypeFifo:
		return 0, errors.New("it is a named pipe")
	}
	return 0, fmt.Errorf("its type %q is not that of a file, directory or link", header.Typeflag)
}

// tarEnd checks how a tar file ends, after archive/tar was content with it at
// the end of an entry: in two blocks of zeros, without which it may be cut off,
// and in nothing but zeros.
func tarEnd(source *countingReader, end int64) error {
	if blank := source.n - end; blank < 2*tarBlock {
		return damaged("tar: it does not end in two empty blocks, so it may be cut off")
	} else if blank > 2*tarBlock {
		return damaged("tar: it ends in a header for an entry that does not follow")
	}
	rest := bufio.NewReader(source)
	for {
		b, err := rest.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case b != 0:
			return damaged("tar: something follows its end")
		}
	}
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// checkTarHeader refuses what tar programs read in different ways, as far as
// archive/tar lets it through.
func checkTarHeader(header *tar.Header) error {
	if header.Typeflag == tar.TypeXGlobalHeader {
		return checkGlobal(header.PAXRecords)
	}
	// Some skip as many bytes, others none.
	if header.Typeflag != tar.TypeReg && header.Size != 0 {
		return errors.New("it is not a file and has a size")
	}
	for key, value := range header.PAXRecords {
		if err := checkPAX(key, value); err != nil {
			return err
		}
	}
	// A GNU header for long names may say something else than the record.
	if name, ok := header.PAXRecords["path"]; ok && name != header.Name {
		return errors.New("it has two names")
	}
	if target, ok := header.PAXRecords["linkpath"]; ok && target != header.Linkname {
		return errors.New("it has two link targets")
	}
	return nil
}

// checkPAX allows the records of POSIX.1-2017 pax, but not size: sizes within
// the limits fit into the ordinary header, and two of them may differ. Vendors'
// records (VENDOR.keyword), for access control lists and the like, mean
// nothing here, except that GNU's change what a file holds.
func checkPAX(key, value string) error {
	plain := []string{"path", "linkpath", "uid", "gid", "uname", "gname", "mtime", "atime", "ctime", "comment", "charset"}
	switch {
	case strings.HasPrefix(key, "GNU."):
		return fmt.Errorf("the extended header %q, as of sparse files, is not supported", key)
	case strings.Contains(key, "."), slices.Contains(plain, key):
		return nil
	case key == "hdrcharset" && value == "ISO-IR 10646 2000 UTF-8":
		return nil
	}
	return fmt.Errorf("the extended header %q is not supported", key)
}

// checkGlobal allows a global header what cannot change an entry's content or
// name: archive/tar ignores it, and others do not.
func checkGlobal(records map[string]string) error {
	for key, value := range records {
		if key == "path" || key == "linkpath" {
			return fmt.Errorf("a global header must not hold %q", key)
		}
		if err := checkPAX(key, value); err != nil {
			return err
		}
	}
	return nil
}
