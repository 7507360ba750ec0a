package oci

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// ErrLayout means that a file is not an OCI image layout in a tar file, or that its content does
// not match its digests.
var ErrLayout = errors.New("not a valid OCI image layout in a tar file")

const (
	// maxFiles is the maximum number of files in a layout.
	maxFiles = 200_000
	// maxIndex is the maximum size of the index in bytes.
	maxIndex = 64 << 20
)

// Layout is an open layout. It is safe for concurrent use.
type Layout struct {
	file io.ReaderAt
	// files are the sections of the tar file by file name.
	files map[string]section
	refs  []Ref
	tags  map[string]Descriptor
}

type section struct{ offset, size int64 }

// ReadLayout reads the list of files and the index of a layout. The file must stay open. Errors about
// its content wrap [ErrLayout].
func ReadLayout(file *os.File) (*Layout, error) {
	l := &Layout{file: file, files: make(map[string]section), tags: make(map[string]Descriptor)}
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

// readFiles finds the files in the tar file. The reader of package tar reads only the headers,
// and seeks over the content.
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
	for _, m := range index.Manifests {
		tag := m.Annotations[ocispec.AnnotationRefName]
		isIndex := m.MediaType == IndexType
		if tag == "" || m.MediaType != ManifestType && !isIndex {
			continue // it is not a ref of this package
		}
		ref := Ref{Tag: tag, ArtifactType: m.ArtifactType, Index: isIndex, Manifest: descriptorOf(m)}
		if _, twice := l.tags[tag]; twice {
			return badLayout("the tag %q occurs twice", tag)
		}
		l.tags[tag] = ref.Manifest
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
	if err := json.Unmarshal(text, value); err != nil {
		return badLayout("%q: %w", name, err)
	}
	return nil
}

func (l *Layout) open(at section) io.Reader { return io.NewSectionReader(l.file, at.offset, at.size) }

// Refs returns the manifests that have tags, in the order of the index.
func (l *Layout) Refs() []Ref { return l.refs }

// Tagged returns the manifest with a tag.
func (l *Layout) Tagged(tag string) (Descriptor, bool) {
	manifest, ok := l.tags[tag]
	return manifest, ok
}

// Copy writes a blob to w. If the layout does not have the blob, or if the content does not match
// the digest, the error wraps [ErrLayout]; some of the content may have been written.
func (l *Layout) Copy(w io.Writer, blob Descriptor) error {
	if !IsSHA256(blob.Digest) {
		return badLayout("the digest of a blob is %q", blob.Digest)
	}
	encoded := strings.TrimPrefix(blob.Digest, "sha256:")
	at, ok := l.files[blobsDir+encoded]
	if !ok || at.size != blob.Size {
		return badLayout("it has no blob %s of %d bytes", blob.Digest, blob.Size)
	}
	sum := sha256.New()
	if n, err := io.Copy(io.MultiWriter(w, sum), l.open(at)); err != nil {
		return err
	} else if n != at.size {
		return badLayout("it is truncated")
	}
	if hex.EncodeToString(sum.Sum(nil)) != encoded {
		return badLayout("the blob %s does not match its digest", blob.Digest)
	}
	return nil
}

func badLayout(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrLayout, fmt.Errorf(format, args...))
}
