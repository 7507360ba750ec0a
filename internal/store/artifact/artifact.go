package artifact

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/internal/net/oci"
)

// MaxManifest limits a manifest or an index, in bytes.
const MaxManifest = 1 << 20

const (
	annotationVersion = "io.github.cotterpin.version"
	annotationHashes  = "io.github.cotterpin.hashes"
)

var ErrManifest = errors.New("the artifact is not a module package with the statement of a lock")

func bad(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrManifest, fmt.Errorf(format, args...))
}

// Artifact is a package as an OCI artifact.
type Artifact[S stated] struct {
	Statement S
	// Layer is the archive, with a digest of sha256.
	Layer oci.Descriptor
}

type Module = Artifact[Statement]

// Provider is a package for one platform.
type Provider = Artifact[ProviderStatement]

type stated interface {
	Statement | ProviderStatement
	artifactType() string
	annotations() map[string]string
}

// ArchiveHash is a zh.
func (a Artifact[S]) ArchiveHash() hashing.Hash {
	return hashing.Hash("zh:" + strings.TrimPrefix(a.Layer.Digest, "sha256:"))
}

// Manifest returns the manifest, of which [ParseModule] and [ParseProvider] are the inverse.
func (a Artifact[S]) Manifest() ([]byte, error) {
	return oci.Manifest{
		ArtifactType: a.Statement.artifactType(),
		Layers:       []oci.Layer{{MediaType: oci.ArchiveType, Descriptor: a.Layer}},
		Annotations:  a.Statement.annotations(),
	}.Encode()
}

// ParseModule does not verify the statement. Errors wrap [ErrManifest].
func ParseModule(text []byte) (Module, error) { return parse(text, parseStatement) }

// ParseProvider does not verify the statement. Errors wrap [ErrManifest].
func ParseProvider(text []byte) (Provider, error) {
	a, err := parse(text, parseProviderStatement)
	switch {
	case err != nil:
		return Provider{}, err
	case a.Layer.Size > providerzip.MaxArchive:
		return Provider{}, bad("its archive has %d bytes, more than %d", a.Layer.Size, int64(providerzip.MaxArchive))
	}
	for _, h := range a.Statement.Hashes {
		if h.Scheme() != "h1" && h != a.ArchiveHash() {
			return Provider{}, bad("%s is neither the h1 of a package nor the zh of its archive", h)
		}
	}
	return a, nil
}

func parse[S stated](text []byte, statement func(annotations map[string]string) (S, error)) (a Artifact[S], err error) {
	annotations, layer, err := parseManifest(text, a.Statement.artifactType())
	if err != nil {
		return a, err
	}
	found, err := statement(annotations)
	if err != nil {
		return a, err
	}
	return Artifact[S]{found, layer}, nil
}

func parseManifest(text []byte, artifactType string) (annotations map[string]string, layer oci.Descriptor, err error) {
	if err := checkSize(text); err != nil {
		return nil, layer, err
	}
	m, err := oci.ParseManifest(oci.ManifestType, text, artifactType)
	if err != nil {
		return nil, layer, bad("%w", err)
	}
	layer, err = m.Archive()
	switch {
	case err != nil:
		return nil, layer, bad("%w", err)
	case len(m.Layers) > 1:
		return nil, layer, bad("it has %d layers, and should have one", len(m.Layers))
	case !oci.IsSHA256(layer.Digest):
		return nil, layer, bad("the digest of its layer is %q", layer.Digest)
	}
	return m.Annotations, layer, nil
}

func checkSize(text []byte) error {
	if len(text) > MaxManifest {
		return bad("it has more than %d bytes", MaxManifest)
	}
	return nil
}
