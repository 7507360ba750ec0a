package oci

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter/internal/text/jsonkeys"
)

var ErrLayout = errors.New("not a valid OCI image layout in a tar file")

const (
	maxFiles = 200_000
	// maxIndex is in bytes.
	maxIndex = 64 << 20
)

// Layout is an OCI image layout in one tar file, which "oras cp --from-oci-layout" and "skopeo copy
// oci-archive:" read: https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md
//
//	oci-layout              the version of the layout
//	index.json              the manifests, with their tags (org.opencontainers.image.ref.name)
//	blobs/sha256/<digest>   manifests, configs and layers
//
// It is an [ocistore.Repository], and safe for concurrent use.
type Layout struct {
	file io.ReaderAt
	// files are the sections of the tar file.
	files map[string]section
	refs  []Ref
	// byName are the positions in refs by tag and by digest.
	byName map[string]int
}

type section struct{ offset, size int64 }

// ReadLayout reads the list of files and the index; the file must stay open. Files of other programs must
// have only regular files and directories, no compression, and sha256. Errors about the content wrap
// [ErrLayout].
func ReadLayout(file *os.File) (*Layout, error) {
	l := &Layout{file: file, files: make(map[string]section)}
	if err := l.readFiles(file); err != nil {
		return nil, err
	}
	var version ocispec.ImageLayout
	if err := l.readJSON(ocispec.ImageLayoutFile, 4<<10, &version); err != nil {
		return nil, err
	}
	if version.Version != ocispec.ImageLayoutVersion {
		return nil, badLayout("its version is %q", version.Version)
	}
	return l, l.readIndex()
}

// readFiles reads only the headers, and seeks over the content.
func (l *Layout) readFiles(file io.ReadSeeker) error {
	in := tar.NewReader(file)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return badLayout("%w", err)
		}
		name := path.Clean(header.Name)
		if header.Typeflag == tar.TypeDir {
			continue
		}
		if _, twice := l.files[name]; twice || header.Typeflag != tar.TypeReg || isSparse(header) {
			return badLayout("%q occurs twice or is not a regular file", name)
		}
		if len(l.files) == maxFiles {
			return badLayout("it has more than %d files", maxFiles)
		}
		offset, err := file.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		l.files[name] = section{offset, header.Size}
	}
}

func isSparse(header *tar.Header) bool {
	for name := range header.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return false
}

func (l *Layout) readIndex() error {
	var index ocispec.Index
	if err := l.readJSON(ocispec.ImageIndexFile, maxIndex, &index); err != nil {
		return err
	}
	tags := make(map[string]bool)
	l.byName = make(map[string]int)
	for _, m := range index.Manifests {
		tag := m.Annotations[ocispec.AnnotationRefName]
		isIndex := m.MediaType == IndexType
		if tag == "" || m.MediaType != ManifestType && !isIndex {
			continue // it is not a ref of this package
		}
		ref := Ref{Tag: tag, ArtifactType: m.ArtifactType, Index: isIndex, Manifest: descriptorOf(m)}
		if tags[tag] {
			return badLayout("the tag %q occurs twice", tag)
		}
		tags[tag] = true
		for _, name := range []string{tag, ref.Manifest.Digest} {
			if _, known := l.byName[name]; !known {
				l.byName[name] = len(l.refs)
			}
		}
		l.refs = append(l.refs, ref)
	}
	return nil
}

func (l *Layout) readJSON(name string, limit int64, value any) error {
	at, ok := l.files[name]
	if !ok {
		return badLayout("it has no file %q", name)
	}
	if at.size > limit {
		return badLayout("%q has more than %d bytes", name, limit)
	}
	text := make([]byte, at.size)
	if _, err := io.ReadFull(l.open(at), text); err != nil {
		return badLayout("%q: %w", name, err)
	}
	if err := jsonkeys.Unmarshal(text, value); err != nil {
		return badLayout("%q: %w", name, err)
	}
	return nil
}

func (l *Layout) open(at section) io.Reader { return io.NewSectionReader(l.file, at.offset, at.size) }

// Refs are in the order of the index.
func (l *Layout) Refs() []Ref { return l.refs }

// Resolve accepts a tag, or the digest of a manifest with a tag.
func (l *Layout) Resolve(_ context.Context, reference string) (ocispec.Descriptor, error) {
	i, ok := l.byName[reference]
	switch {
	case !ok:
		return ocispec.Descriptor{}, &fs.PathError{Op: "open", Path: reference, Err: fs.ErrNotExist}
	case l.refs[i].Index:
		return l.refs[i].Manifest.OCI(IndexType), nil
	}
	return l.refs[i].Manifest.OCI(ManifestType), nil
}

// Fetch or its reader returns an [ErrLayout] if the layout lacks the content or it does not match its
// digest.
func (l *Layout) Fetch(_ context.Context, target ocispec.Descriptor) (io.ReadCloser, error) {
	blob := descriptorOf(target)
	if !IsSHA256(blob.Digest) {
		return nil, badLayout("the digest of a blob is %q", blob.Digest)
	}
	at, ok := l.files[blobsDir+strings.TrimPrefix(blob.Digest, "sha256:")]
	if !ok || at.size != blob.Size {
		return nil, badLayout("it has no blob %s of %d bytes", blob.Digest, blob.Size)
	}
	return io.NopCloser(&content{from: l.open(at), blob: blob, sum: sha256.New()}), nil
}

func (l *Layout) Tags(_ context.Context, last string, page func(tags []string) error) error {
	var tags []string
	for _, ref := range l.refs {
		tags = append(tags, ref.Tag)
	}
	return page(tags[slices.Index(tags, last)+1:])
}

// content is compared with its size and digest at its end.
type content struct {
	from io.Reader
	blob Descriptor
	sum  hash.Hash
	n    int64
}

func (c *content) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += int64(n)
	c.sum.Write(b[:n])
	switch {
	case !errors.Is(err, io.EOF): // it goes on, or cannot be read
	case c.n != c.blob.Size:
		err = badLayout("it is truncated")
	case "sha256:"+hex.EncodeToString(c.sum.Sum(nil)) != c.blob.Digest:
		err = badLayout("the blob %s does not match its digest", c.blob.Digest)
	}
	return n, err
}

func badLayout(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrLayout, fmt.Errorf(format, args...))
}
