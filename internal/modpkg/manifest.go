package modpkg

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter/hashing"
)

// ArtifactType is the type of module packages in OpenTofu.
const ArtifactType = "application/vnd.opentofu.modulepkg"

const (
	layerType = "archive/zip"

	annotation        = "io.github.cotterpin."
	annotationSource  = annotation + "source"
	annotationVersion = annotation + "version"
	annotationPackage = annotation + "package"
	annotationHashes  = annotation + "hashes"

	// maxHashes limits the hashes of a statement. There are three known schemes.
	maxHashes = 16
)

// MaxManifest is the maximum size of a manifest in bytes.
const MaxManifest = 1 << 20

// Config is the content of the config blob of all artifacts.
const Config = "{}"

// ErrManifest means that a manifest does not belong to an artifact of this package.
var ErrManifest = errors.New("the artifact is not a module package with the statement of a lock")

// Artifact is a package as an OCI artifact: a statement and the archive of the tree.
type Artifact struct {
	Statement Statement
	// Layer is the digest of the archive, "sha256:" with 64 digits, and Size is its size in bytes.
	Layer string
	Size  int64
	// Signatures are the signatures of the statement and the layer's digest.
	Signatures []Signature
}

// Manifest returns the manifest of the artifact.
func (a Artifact) Manifest() ([]byte, error) {
	annotations := map[string]string{
		annotationSource:  a.Statement.Source,
		annotationPackage: a.Statement.Package,
	}
	if a.Statement.Version != "" {
		annotations[annotationVersion] = a.Statement.Version
	}
	annotations[annotationHashes] = joinHashes(a.Statement.Hashes)
	if len(a.Signatures) > 0 {
		annotations[annotationSignatures] = formatSignatures(a.Signatures)
	}
	return marshalManifest(ArtifactType, ocispec.Descriptor{MediaType: layerType, Digest: digest.Digest(a.Layer), Size: a.Size}, annotations)
}

// marshalManifest returns a manifest with one layer.
func marshalManifest(artifactType string, layer ocispec.Descriptor, annotations map[string]string) ([]byte, error) {
	config := ocispec.DescriptorEmptyJSON
	config.Data = nil
	return json.Marshal(ocispec.Manifest{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    ocispec.MediaTypeImageManifest,
		ArtifactType: artifactType,
		Config:       config,
		Layers:       []ocispec.Descriptor{layer},
		Annotations:  annotations,
	})
}

// ParseManifest is the inverse of [Artifact.Manifest]. Its errors wrap [ErrManifest]. It does not
// verify the statement.
func ParseManifest(text []byte) (Artifact, error) {
	m, err := parseOneLayer(text, ArtifactType)
	if err != nil {
		return Artifact{}, err
	}
	statement, err := parseStatement(m.Annotations)
	if err != nil {
		return Artifact{}, err
	}
	signatures, err := parseSignatures(m.Annotations[annotationSignatures])
	if err != nil {
		return Artifact{}, err
	}
	layer := m.Layers[0]
	return Artifact{Statement: statement, Layer: layer.Digest.String(), Size: layer.Size, Signatures: signatures}, nil
}

// parseOneLayer parses a manifest that has one layer, which must be an archive.
func parseOneLayer(text []byte, artifactType string) (*ocispec.Manifest, error) {
	var m struct {
		ocispec.Manifest
		// Indexes have this property. A manifest with both could be read as either.
		Manifests json.RawMessage `json:"manifests"`
	}
	if len(text) > MaxManifest {
		return nil, bad("it has more than %d bytes", MaxManifest)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, bad("it cannot be read: %w", err)
	}
	switch {
	case m.MediaType != ocispec.MediaTypeImageManifest || m.Manifests != nil:
		return nil, bad("its media type is %q", m.MediaType)
	case m.ArtifactType != artifactType:
		return nil, bad("its artifact type is %q", m.ArtifactType)
	case len(m.Layers) != 1 || m.Layers[0].MediaType != layerType:
		return nil, bad("it does not have one layer of the type %q", layerType)
	}
	layer := m.Layers[0]
	if layer.Digest.Validate() != nil || layer.Digest.Algorithm() != digest.SHA256 || layer.Size <= 0 {
		return nil, bad("its layer has the digest %q and the size %d", layer.Digest, layer.Size)
	}
	return &m.Manifest, nil
}

func parseStatement(annotations map[string]string) (Statement, error) {
	s := Statement{
		Source:  annotations[annotationSource],
		Version: annotations[annotationVersion],
		Package: annotations[annotationPackage],
	}
	if s.Source == "" {
		return Statement{}, bad("its annotations are not those of a lock's entry")
	}
	var err error
	if s.Hashes, err = parseHashes(annotations[annotationHashes]); err != nil {
		return Statement{}, err
	}
	if s.Hash("t1") == "" && s.Hash("h1") == "" {
		return Statement{}, bad("it has no hash of the tree")
	}
	return s, nil
}

func joinHashes(hashes []hashing.Hash) string {
	texts := make([]string, len(hashes))
	for i, h := range hashes {
		texts[i] = string(h)
	}
	return strings.Join(texts, " ")
}

// parseHashes is the inverse of joinHashes. The hashes must be known and sorted.
func parseHashes(text string) (hashes []hashing.Hash, err error) {
	fields := strings.Fields(text)
	if len(fields) == 0 || len(fields) > maxHashes {
		return nil, bad("its annotations are not those of a lock's entry")
	}
	for _, field := range fields {
		h, err := hashing.ParseHash(field)
		if err != nil || !h.Known() {
			return nil, bad("%q is not a known hash", field)
		}
		hashes = append(hashes, h)
	}
	if !slices.IsSorted(hashes) {
		return nil, bad("its hashes are not sorted")
	}
	return hashes, nil
}

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrManifest, fmt.Errorf(format, args...))
}
