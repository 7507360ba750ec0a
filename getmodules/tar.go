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

	"github.com/cotterpin/cotter/internal/disk/treewriter"
)

const (
	tarBlock = 512
	// maxTarHeaders is in bytes, for one entry. A long name takes 1 KiB. archive/tar allows as much for
	// each header.
	maxTarHeaders = 1 << 20
	// maxTarGlobals limits the global headers, of which git writes one.
	maxTarGlobals = 16
	gzipReserved  = 0xe0
)

// tarIn unpacks a compressed tar file, and refuses data after the end of the compressed data.
func tarIn(decompress func(*unpacking, *bufio.Reader) (io.Reader, error)) func(*unpacking) error {
	return func(a *unpacking) error {
		packed := bufio.NewReader(readerAt(a.ctx, a.file, 0, a.size))
		// Only the end of the data says how large the files are. They are hardly ever smaller than the archive.
		if err := a.w.Expect(a.size); err != nil {
			return err
		}
		plain, err := decompress(a, packed)
		if err != nil {
			return damaged("%w", err)
		}
		if err := a.untar(a.bounded(plain)); err != nil {
			return err
		}
		if _, err := packed.ReadByte(); !errors.Is(err, io.EOF) {
			return damaged("there is data after the compressed data")
		}
		return nil
	}
}

func gunzip(_ *unpacking, packed *bufio.Reader) (io.Reader, error) {
	// RFC 1952 requires these flags to be zero. compress/gzip does not check that, but other programs do.
	if head, err := packed.Peek(4); err == nil && head[3]&gzipReserved != 0 {
		return nil, errors.New("gzip: it has reserved flags")
	}
	member, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	// Some programs read further members as the rest of the tar file, and others ignore them.
	member.Multistream(false)
	return member, nil
}

func bunzip2(_ *unpacking, packed *bufio.Reader) (io.Reader, error) {
	return bzip2.NewReader(packed), nil
}

func unxz(a *unpacking, packed *bufio.Reader) (io.Reader, error) { return a.xz(packed) }

// untar reads the source to its end.
func (a *unpacking) untar(plain io.Reader) error {
	source := &countingReader{r: plain}
	archive := tar.NewReader(source)
	globals := 0
	for end := int64(0); ; { // the end of the last entry with its padding
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
	if header.Typeflag == tar.TypeLink {
		return a.copyEarlier(entryName(header.Name, false), entryName(header.Linkname, false))
	}
	mode, err := tarMode(header)
	if err != nil {
		return fmt.Errorf("%w: %q: %w", ErrUnsafeEntry, header.Name, err)
	}
	return a.add(entryName(header.Name, mode.IsDir()), mode, header.Linkname, &decodedReader{content})
}

// copyEarlier writes a hard link as a copy, which counts against all limits. Stock tools write an empty file.
func (a *unpacking) copyEarlier(name, of string) error {
	earlier, exec, err := a.w.Open(of)
	if _, ok := errors.AsType[*treewriter.PathError](err); ok {
		return fmt.Errorf("%w: %q: it is a hard link to %q, which is not an earlier file of the archive", ErrUnsafeEntry, name, of)
	}
	if err != nil {
		return err
	}
	defer earlier.Close() // nothing was written
	return a.w.File(name, exec, a.bounded(earlier))
}

func tarMode(header *tar.Header) (fs.FileMode, error) {
	mode := fs.FileMode(header.Mode & 0o777)
	switch header.Typeflag {
	case tar.TypeReg:
		return mode, nil
	case tar.TypeDir:
		return mode | fs.ModeDir, nil
	case tar.TypeSymlink:
		return mode | fs.ModeSymlink, nil
	case tar.TypeChar, tar.TypeBlock:
		return 0, errors.New("it is a device")
	case tar.TypeFifo:
		return 0, errors.New("it is a named pipe")
	}
	return 0, fmt.Errorf("its type %q is not that of a file, directory or link", header.Typeflag)
}

// tarEnd requires two blocks of zeros after the last entry, and nothing but zeros, which archive/tar does
// not. Without them the file may be truncated.
func tarEnd(source *countingReader, end int64) error {
	if blank := source.n - end; blank < 2*tarBlock {
		return damaged("tar: it does not end in two empty blocks, so it may be truncated")
	} else if blank > 2*tarBlock {
		return damaged("tar: it ends in a header without an entry")
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
			return damaged("tar: there is data after its end")
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

// checkTarHeader refuses what archive/tar accepts, but other programs read in different ways.
func checkTarHeader(header *tar.Header) error {
	if header.Typeflag == tar.TypeXGlobalHeader {
		return checkGlobal(header.PAXRecords)
	}
	// Some programs skip content of this size, while others do not.
	if header.Typeflag != tar.TypeReg && header.Size != 0 {
		return errors.New("it has a size, but is not a file")
	}
	for key, value := range header.PAXRecords {
		if err := checkPAX(key, value); err != nil {
			return err
		}
	}
	// A GNU header for a long name can differ from the record.
	if name, ok := header.PAXRecords["path"]; ok && name != header.Name {
		return errors.New("it has two names")
	}
	if target, ok := header.PAXRecords["linkpath"]; ok && target != header.Linkname {
		return errors.New("it has two link targets")
	}
	return nil
}

// checkPAX allows the records of POSIX.1-2017 pax, except size: sizes within the limits fit into the
// ordinary header, and the two could differ. Records of vendors (VENDOR.keyword), such as access control
// lists, are ignored, except for GNU's, which change the content of a file.
func checkPAX(key, value string) error {
	plain := []string{"path", "linkpath", "uid", "gid", "uname", "gname", "mtime", "atime", "ctime", "comment", "charset"}
	switch {
	case strings.HasPrefix(key, "GNU."):
		return fmt.Errorf("the extended header %q, used for sparse files, is not supported", key)
	case strings.Contains(key, "."), slices.Contains(plain, key):
		return nil
	case key == "hdrcharset" && (value == "ISO-IR 10646 2000 UTF-8" || value == "BINARY"):
		return nil // names are taken by their bytes
	}
	return fmt.Errorf("the extended header %q is not supported", key)
}

// checkGlobal refuses global records that can change the content or name of an entry, which archive/tar
// ignores and other programs do not.
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
