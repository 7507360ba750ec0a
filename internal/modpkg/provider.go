package modpkg

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/versions"
)

// Artifact types of OpenTofu's provider mirrors: an index for each version, with a manifest for
// each platform.
const (
	ProviderIndexType = "application/vnd.opentofu.provider"
	ProviderType      = "application/vnd.opentofu.provider-target"

	// providerReferenceType is the type of the artifacts by which a mirror lists its providers.
	providerReferenceType = "application/vnd.cotterpin.provider-reference"
)

const (
	annotationProvider = annotation + "provider"
	annotationPlatform = annotation + "platform"

	// signedProviderFormat is the first signed line for a provider.
	signedProviderFormat = "cotter mirror provider v1"

	// maxProviderArchive is the maximum size of a provider's archive in bytes.
	maxProviderArchive = 1 << 30
)

// Release is a version of a provider.
type Release struct {
	Provider addrs.Provider
	Version  versions.Version
}

// ProviderTag is the prefix of the tags of all providers.
const ProviderTag = "provider-"

// maxTag is the maximum length of a tag in registries.
const maxTag = 128

// Tag returns the tag of a release in a bundle, and of its reference in a mirror:
// provider-HOST_NAMESPACE_TYPE_VERSION. If that is too long, the part after "provider-" is
// replaced by its hash.
func (r Release) Tag() string {
	name := strings.Join([]string{hostName(r.Provider), r.Provider.Namespace, r.Provider.Type, r.VersionTag()}, "_")
	if len(ProviderTag+name) > maxTag {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:])
	}
	return ProviderTag + name
}

// VersionTag returns the tag of a release in the repository of its provider.
func (r Release) VersionTag() string { return strings.Replace(r.Version.String(), "+", "_", 1) }

// RepositoryOf returns the repository of a provider below a mirror's repository:
// providers/HOST/NAMESPACE/TYPE. If the host has a port, it is separated by "_", because the name
// of a repository must not contain ":".
func RepositoryOf(p addrs.Provider) string {
	return "providers/" + hostName(p) + "/" + p.Namespace + "/" + p.Type
}

// hostName returns the host of a provider in a form that is allowed in the names of registries.
func hostName(p addrs.Provider) string { return strings.Replace(string(p.Hostname), ":", "_", 1) }

// ProviderArtifact is a provider's package for one platform as an OCI artifact.
type ProviderArtifact struct {
	Release
	Platform addrs.Platform
	// Hashes are the hashes of the package, sorted: the h1 of its content, and the zh of the
	// archive if a lock has it.
	Hashes []hashing.Hash
	// Layer is the digest of the archive, "sha256:" with 64 digits, and Size is its size in bytes.
	Layer string
	Size  int64
	// Signatures are the signatures of all fields above.
	Signatures []Signature
}

// Archive returns the hash of the archive, with the scheme zh.
func (a ProviderArtifact) Archive() hashing.Hash {
	return hashing.Hash("zh:" + strings.TrimPrefix(a.Layer, "sha256:"))
}

// IsIn reports whether a lock has one of the package's hashes.
func (a ProviderArtifact) IsIn(locked []hashing.Hash) bool {
	return slices.ContainsFunc(a.Hashes, func(h hashing.Hash) bool { return slices.Contains(locked, h) })
}

// Manifest returns the manifest of the artifact.
func (a ProviderArtifact) Manifest() ([]byte, error) {
	annotations := a.annotations()
	annotations[annotationPlatform] = a.Platform.String()
	annotations[annotationHashes] = joinHashes(a.Hashes)
	if len(a.Signatures) > 0 {
		annotations[annotationSignatures] = formatSignatures(a.Signatures)
	}
	return marshalManifest(ProviderType, ocispec.Descriptor{MediaType: layerType, Digest: digest.Digest(a.Layer), Size: a.Size}, annotations)
}

func (r Release) annotations() map[string]string {
	return map[string]string{annotationProvider: r.Provider.String(), annotationVersion: r.Version.String()}
}

// ParseProviderManifest is the inverse of [ProviderArtifact.Manifest]. Its errors wrap
// [ErrManifest].
func ParseProviderManifest(text []byte) (ProviderArtifact, error) {
	m, err := parseOneLayer(text, ProviderType)
	if err != nil {
		return ProviderArtifact{}, err
	}
	layer := m.Layers[0]
	a := ProviderArtifact{Layer: layer.Digest.String(), Size: layer.Size}
	if layer.Size > maxProviderArchive {
		return a, bad("its archive has %d bytes, more than %d", layer.Size, maxProviderArchive)
	}
	if a.Release, err = parseRelease(m.Annotations); err != nil {
		return a, err
	}
	if a.Platform, err = addrs.ParsePlatform(m.Annotations[annotationPlatform]); err != nil {
		return a, bad("%w", err)
	}
	if a.Hashes, err = parseHashes(m.Annotations[annotationHashes]); err != nil {
		return a, err
	}
	for _, h := range a.Hashes {
		if h.Scheme() != "h1" && h != a.Archive() {
			return a, bad("%s is neither the h1 of a package nor the zh of its archive", h)
		}
	}
	a.Signatures, err = parseSignatures(m.Annotations[annotationSignatures])
	return a, err
}

func parseRelease(annotations map[string]string) (r Release, err error) {
	name, number := annotations[annotationProvider], annotations[annotationVersion]
	if r.Provider, err = addrs.ParseProviderSource(name); err != nil || r.Provider.String() != name {
		return r, bad("%q is not the full address of a provider", name)
	}
	if r.Version, err = versions.ParseProviderVersion(number); err != nil || r.Version.String() != number {
		return r, bad("%q is not the version of a provider", number)
	}
	return r, nil
}

func (a ProviderArtifact) signatures() []Signature { return a.Signatures }

func (a ProviderArtifact) signedLines() []string {
	return []string{
		signedProviderFormat, "provider " + a.Provider.String(), "version " + a.Version.String(), "platform " + a.Platform.String(),
		"hashes " + joinHashes(a.Hashes), "layer " + a.Layer,
	}
}

// Sign returns the artifact with an additional signature by a key. It replaces an earlier
// signature by the same key.
func (a ProviderArtifact) Sign(key ed25519.PrivateKey) (ProviderArtifact, error) {
	var err error
	a.Signatures, err = sign(a, key)
	return a, err
}

// CheckSigned is like [Artifact.CheckSigned].
func (a ProviderArtifact) CheckSigned(keys []ed25519.PublicKey) error { return checkSigned(a, keys) }

// Reference returns the manifest of the artifact by which a mirror lists a release. Its only blob
// is [Config].
func (r Release) Reference() ([]byte, error) {
	empty := ocispec.DescriptorEmptyJSON
	empty.Data = nil
	return marshalManifest(providerReferenceType, empty, r.annotations())
}

// ParseReference returns the release of a reference, or of an index in a bundle. Its errors wrap
// [ErrManifest].
func ParseReference(text []byte) (Release, error) {
	var m struct {
		ArtifactType string            `json:"artifactType"`
		Annotations  map[string]string `json:"annotations"`
	}
	if len(text) > MaxManifest {
		return Release{}, bad("it has more than %d bytes", MaxManifest)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return Release{}, bad("it cannot be read: %w", err)
	}
	if m.ArtifactType != providerReferenceType && m.ArtifactType != ProviderIndexType {
		return Release{}, bad("its artifact type is %q", m.ArtifactType)
	}
	return parseRelease(m.Annotations)
}
