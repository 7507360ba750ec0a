package ocilayout

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

const blobsDir = "blobs/sha256/"

// Ref is a manifest, or an index of manifests, with a tag.
type Ref struct {
	Tag string
	// ArtifactType is the artifact type of the manifest. It may be empty.
	ArtifactType string
	// Index reports whether Manifest is an index.
	Index    bool
	Manifest Descriptor
}

// Descriptor identifies a blob by its digest, "sha256:" with 64 digits, and its size in bytes.
type Descriptor struct {
	Digest string
	Size   int64
}

// Describe returns the descriptor of a blob.
func Describe(blob []byte) Descriptor {
	return Descriptor{digest.FromBytes(blob).String(), int64(len(blob))}
}

// CopyDigest writes content to w and returns its digest.
func CopyDigest(w io.Writer, content io.WriterTo) (string, error) {
	sum := digest.Canonical.Digester()
	if _, err := content.WriteTo(io.MultiWriter(w, sum.Hash())); err != nil {
		return "", err
	}
	return sum.Digest().String(), nil
}

// Blob is a blob that Write writes.
type Blob struct {
	Descriptor
	Open func() (io.ReadCloser, error)
}

// Write writes a layout. The order of refs and blobs does not matter. Blobs with the same digest
// are written once.
func Write(w io.Writer, refs []Ref, blobs []Blob) error {
	index, err := indexOf(refs)
	if err != nil {
		return err
	}
	layout, err := json.Marshal(ocispec.ImageLayout{Version: ocispec.ImageLayoutVersion})
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	for _, file := range []struct {
		name string
		text []byte
	}{{ocispec.ImageLayoutFile, layout}, {ocispec.ImageIndexFile, index}} {
		if err := out.WriteHeader(header(file.name, int64(len(file.text)))); err != nil {
			return err
		}
		if _, err := out.Write(file.text); err != nil {
			return err
		}
	}
	blobs = slices.Clone(blobs)
	slices.SortFunc(blobs, func(a, b Blob) int { return strings.Compare(a.Digest, b.Digest) })
	blobs = slices.CompactFunc(blobs, func(a, b Blob) bool { return a.Digest == b.Digest })
	for _, blob := range blobs {
		if err := writeBlob(out, blob); err != nil {
			return err
		}
	}
	return out.Close()
}

func indexOf(refs []Ref) ([]byte, error) {
	refs = slices.Clone(refs)
	slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.Tag, b.Tag) })
	index := ocispec.Index{
		Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: ocispec.MediaTypeImageIndex,
		Manifests: []ocispec.Descriptor{},
	}
	for _, ref := range refs {
		mediaType := ocispec.MediaTypeImageManifest
		if ref.Index {
			mediaType = ocispec.MediaTypeImageIndex
		}
		index.Manifests = append(index.Manifests, ocispec.Descriptor{
			MediaType:    mediaType,
			Digest:       digest.Digest(ref.Manifest.Digest),
			Size:         ref.Manifest.Size,
			ArtifactType: ref.ArtifactType,
			Annotations:  map[string]string{ocispec.AnnotationRefName: ref.Tag},
		})
	}
	return json.Marshal(index)
}

func header(name string, size int64) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, Format: tar.FormatUSTAR}
}

func writeBlob(out *tar.Writer, blob Blob) (err error) {
	encoded, ok := strings.CutPrefix(blob.Digest, "sha256:")
	if !ok {
		return fmt.Errorf("the digest of a blob is %q", blob.Digest)
	}
	if err := out.WriteHeader(header(blobsDir+encoded, blob.Size)); err != nil {
		return err
	}
	content, err := blob.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	_, err = io.Copy(out, content)
	return err
}
