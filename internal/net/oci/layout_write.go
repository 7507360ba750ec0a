package oci

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

const blobsDir = "blobs/sha256/"

// Ref is a manifest, or an index of manifests, with a tag.
type Ref struct {
	Tag string
	// ArtifactType may be empty.
	ArtifactType string
	Index        bool
	Manifest     Descriptor
}

type Blob struct {
	Descriptor
	Open func() (io.ReadCloser, error)
}

// WriteLayout is deterministic: it sorts refs and blobs, writes a digest once, and no times and owners.
func WriteLayout(w io.Writer, refs []Ref, blobs []Blob) error {
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
	unique := make(map[string]Blob)
	for _, blob := range blobs {
		unique[blob.Digest] = blob
	}
	for _, digest := range slices.Sorted(maps.Keys(unique)) {
		if err := writeBlob(out, unique[digest]); err != nil {
			return err
		}
	}
	return out.Close()
}

func indexOf(refs []Ref) ([]byte, error) {
	index := ocispec.Index{
		Versioned: specs.Versioned{SchemaVersion: 2},
		MediaType: IndexType,
		Manifests: []ocispec.Descriptor{},
	}
	for _, ref := range refs {
		mediaType := ManifestType
		if ref.Index {
			mediaType = IndexType
		}
		m := ref.Manifest.OCI(mediaType)
		m.ArtifactType = ref.ArtifactType
		m.Annotations = map[string]string{ocispec.AnnotationRefName: ref.Tag}
		index.Manifests = append(index.Manifests, m)
	}
	sortBy(index.Manifests, func(m ocispec.Descriptor) string { return m.Annotations[ocispec.AnnotationRefName] })
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
