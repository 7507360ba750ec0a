package modpkg

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter/addrs"
)

// Target is the entry for one platform in the index of a release: the digest of a manifest,
// "sha256:" with 64 digits, and its size in bytes.
type Target struct {
	Platform addrs.Platform
	Digest   string
	Size     int64
}

// maxTargets is the maximum number of platforms in an index.
const maxTargets = 256

// Index returns the index of a release. The order of targets does not matter.
func (r Release) Index(targets []Target) ([]byte, error) {
	targets = slices.Clone(targets)
	slices.SortFunc(targets, func(a, b Target) int { return strings.Compare(a.Platform.String(), b.Platform.String()) })
	index := ocispec.Index{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    ocispec.MediaTypeImageIndex,
		ArtifactType: ProviderIndexType,
		Manifests:    []ocispec.Descriptor{},
		Annotations:  r.annotations(),
	}
	for _, t := range targets {
		index.Manifests = append(index.Manifests, ocispec.Descriptor{
			MediaType:    ocispec.MediaTypeImageManifest,
			ArtifactType: ProviderType,
			Digest:       digest.Digest(t.Digest),
			Size:         t.Size,
			Platform:     &ocispec.Platform{OS: t.Platform.OS, Architecture: t.Platform.Arch},
		})
	}
	return json.Marshal(index)
}

// ParseIndex returns the targets of an index, which may have been created by another program. Its
// errors wrap [ErrManifest].
func ParseIndex(text []byte) ([]Target, error) {
	var index struct {
		ocispec.Index
		// Manifests have this property.
		Layers json.RawMessage `json:"layers"`
	}
	if len(text) > MaxManifest {
		return nil, bad("it has more than %d bytes", MaxManifest)
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, bad("it cannot be read: %w", err)
	}
	switch {
	case index.MediaType != ocispec.MediaTypeImageIndex || index.Layers != nil:
		return nil, bad("its media type is %q", index.MediaType)
	case index.ArtifactType != ProviderIndexType:
		return nil, bad("its artifact type is %q", index.ArtifactType)
	case len(index.Manifests) > maxTargets:
		return nil, bad("it has more than %d manifests", maxTargets)
	}
	var targets []Target
	for _, m := range index.Manifests {
		if m.MediaType != ocispec.MediaTypeImageManifest || m.ArtifactType != ProviderType || m.Platform == nil {
			continue // as OpenTofu does
		}
		platform, err := addrs.ParsePlatform(m.Platform.OS + "_" + m.Platform.Architecture)
		if err != nil || m.Digest.Validate() != nil || m.Digest.Algorithm() != digest.SHA256 || m.Size <= 0 || m.Size > MaxManifest {
			return nil, bad("its manifest for %s has the digest %q and the size %d", m.Platform.OS, m.Digest, m.Size)
		}
		if _, twice := TargetFor(targets, platform); twice {
			return nil, bad("it has several manifests for %s", platform)
		}
		targets = append(targets, Target{platform, m.Digest.String(), m.Size})
	}
	return targets, nil
}

// TargetFor returns the target for a platform.
func TargetFor(targets []Target, platform addrs.Platform) (Target, bool) {
	i := slices.IndexFunc(targets, func(t Target) bool { return t.Platform == platform })
	if i < 0 {
		return Target{}, false
	}
	return targets[i], true
}

// WithTarget returns targets with t, which replaces the target for the same platform.
func WithTarget(targets []Target, t Target) []Target {
	others := slices.DeleteFunc(slices.Clone(targets), func(other Target) bool { return other.Platform == t.Platform })
	return append(others, t)
}

// ParseTarget returns the artifact of a target from its manifest. If the manifest belongs to
// another package, the error wraps [ErrManifest].
func (r Release) ParseTarget(t Target, text []byte) (ProviderArtifact, error) {
	if digest.FromBytes(text).String() != t.Digest {
		return ProviderArtifact{}, bad("its manifest does not match the digest in the index")
	}
	a, err := ParseProviderManifest(text)
	if err == nil && (a.Release != r || a.Platform != t.Platform) {
		err = bad("it is %s %s for %s", a.Provider, a.Version, a.Platform)
	}
	return a, err
}
