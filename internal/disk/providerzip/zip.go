package providerzip

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
	"github.com/cotterpin/cotter/internal/disk/zipfile"
)

// RefusedError says that an archive is not a provider's, is damaged, or could do harm.
type RefusedError struct {
	// Entry is "" if the archive as a whole is at fault.
	Entry  string
	Reason string
}

func (e *RefusedError) Error() string {
	if e.Entry == "" {
		return "the archive " + e.Reason
	}
	return fmt.Sprintf("the archive's entry %.200q %s", e.Entry, e.Reason)
}

// Archive has a directory that was checked. It is not safe for concurrent use.
type Archive struct {
	archive  *zipfile.Archive
	files    []*zipfile.Entry // sorted by name
	size     int64            // of all files
	exec     func(*zipfile.Entry) bool
	warnings []string
	portion  [128 << 10]byte
}

// Open reads and checks the directory of an archive of a provider of this type. Before anything is written,
// a *[RefusedError] is returned for unsafe names ([pathsafe.ProviderName]), two entries of one name or a file in
// the place of a directory, entries that are neither regular files nor directories, encryption or other
// methods than deflate, a missing executable, what package zipfile refuses as ambiguous, and what exceeds a limit; while the content is read, for another size or checksum than in the header.
func Open(archive io.ReaderAt, size int64, providerType string) (*Archive, error) {
	if size > MaxArchive {
		return nil, &RefusedError{Reason: fmt.Sprintf("has %d bytes, more than %d", size, int64(MaxArchive))}
	}
	a, err := zipfile.Open(archive, size, zipfile.Limits{Entries: maxEntries, DirectoryBytes: maxDirectory})
	if err != nil {
		return nil, contentError("", err)
	}
	files, total, err := checkEntries(a.Entries, size)
	if err != nil {
		return nil, err
	}
	if err := a.Check(); err != nil {
		return nil, contentError("", err)
	}
	isExecutable := func(f *zipfile.Entry) bool { return IsExecutable(f.Name, providerType) }
	if !slices.ContainsFunc(files, isExecutable) {
		return nil, &RefusedError{Reason: fmt.Sprintf("has no file named %q, optionally followed by \"_\" or \".\" and more", executablePrefix+providerType)}
	}
	return &Archive{
		archive: a,
		files:   files,
		size:    total,
		exec:    func(f *zipfile.Entry) bool { return isExecutable(f) || f.Mode&0o111 != 0 },
	}, nil
}

const executablePrefix = "terraform-provider-"

// IsExecutable reports whether stock tools take a file at the top level for the provider's executable. Of
// several, they run the first by name.
func IsExecutable(name, providerType string) bool {
	rest, ok := strings.CutPrefix(name, executablePrefix+providerType)
	return ok && !strings.Contains(name, "/") && (rest == "" || rest[0] == '_' || rest[0] == '.')
}

// IsExecutableOfAny reports whether a file at the top level can be the executable of a provider of some type.
func IsExecutableOfAny(name string) bool {
	return strings.HasPrefix(name, executablePrefix) && !strings.Contains(name, "/")
}

// Hash reads all files.
func (a *Archive) Hash(ctx context.Context) (hashing.Hash, error) {
	return a.each(ctx, func(_ *zipfile.Entry, content io.Reader) error {
		_, err := io.CopyBuffer(discard{}, content, a.portion[:])
		return err
	})
}

// discard is io.Discard without a buffer of its own.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// Unpack writes the files to dir, which must not exist and does not exist after an error, and returns their
// h1 hash.
func (a *Archive) Unpack(ctx context.Context, dir string) (hashing.Hash, error) {
	w, err := treewriter.Create(ctx, dir, Limits())
	if err != nil {
		return "", err
	}
	defer w.Abort()
	if err := w.Expect(a.size); err != nil {
		return "", err
	}
	h1, err := a.each(ctx, func(f *zipfile.Entry, content io.Reader) error {
		return w.File(f.Name, a.exec(f), content)
	})
	if err != nil {
		return "", err
	}
	a.warnings = w.Warnings()
	return h1, w.Close()
}

// Warnings are about the unpacked files, as for module packages: one about all names that some systems
// cannot store.
func (a *Archive) Warnings() []string { return a.warnings }

func (a *Archive) each(ctx context.Context, use func(*zipfile.Entry, io.Reader) error) (hashing.Hash, error) {
	tree := hashing.Tree{Entries: make([]hashing.Entry, len(a.files))}
	for i, f := range a.files {
		sum := sha256.New()
		reader := &contentReader{ctx: ctx, r: a.archive.Content(f), sum: sum}
		err := use(f, reader)
		if err = cmp.Or(reader.err, err); err != nil {
			return "", contentError(f.Name, err)
		}
		tree.Entries[i] = hashing.Entry{Path: f.Name, Kind: hashing.File}
		sum.Sum(tree.Entries[i].Sum[:0])
	}
	return tree.H1(), nil
}

// contentReader hashes an entry until the context ends.
type contentReader struct {
	ctx context.Context
	r   io.Reader
	sum hash.Hash
	err error // the first error other than io.EOF
}

// Read fills p, because writing larger portions than those of the decompressor is faster.
func (c *contentReader) Read(p []byte) (n int, err error) {
	if c.err = c.ctx.Err(); c.err != nil {
		return 0, c.err
	}
	for n < len(p) && err == nil {
		var more int
		more, err = c.r.Read(p[n:])
		n += more
	}
	c.sum.Write(p[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// contentError leaves errors of the disk and of the context unchanged.
func contentError(entry string, err error) error {
	_, onDisk := errors.AsType[*os.PathError](err)
	refused, isRefused := errors.AsType[*treewriter.PathError](err)
	bad, isZip := errors.AsType[*zipfile.Error](err)
	large, isLarge := errors.AsType[*packagelimits.Error](err)
	switch {
	case onDisk, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case isRefused:
		return &RefusedError{Entry: refused.Path, Reason: "is refused: " + refused.Reason}
	case isLarge && large.Limit == packagelimits.OfRun:
		return err
	case isLarge && large.Limit == packagelimits.OfEntries && large.Path == "":
		return &RefusedError{Reason: fmt.Sprintf("has more than %d entries", maxEntries)}
	case isLarge:
		return &RefusedError{Entry: large.Path, Reason: (&packagelimits.Error{Limit: large.Limit, Max: large.Max}).Error()}
	case errors.Is(err, zipfile.ErrLargeDirectory):
		return &RefusedError{Reason: fmt.Sprintf("has a directory of more than %d bytes", int64(maxDirectory))}
	case isZip && bad.Unsupported:
		return &RefusedError{Entry: cmp.Or(bad.Entry, entry), Reason: "cannot be read: " + bad.Err.Error()}
	case isZip:
		return &RefusedError{Entry: cmp.Or(bad.Entry, entry), Reason: "is damaged: " + bad.Err.Error()}
	}
	return &RefusedError{Entry: entry, Reason: "is damaged: " + err.Error()}
}
