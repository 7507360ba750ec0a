package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

type Release struct {
	Provider addrs.Provider
	Version  versions.Version
}

func ReleaseOf(entry lockfile.Provider) Release { return Release{entry.Address, entry.Version} }

// ProviderTag begins the tags of all releases.
const ProviderTag = "provider-"

// maxTag is that of registries.
const maxTag = 128

// Tag is that of a release in a bundle, and of its reference in a mirror:
// provider-HOST_NAMESPACE_TYPE_VERSION, or with a hash of the part after "provider-" if that is too long.
func (r Release) Tag() string {
	name := strings.Join([]string{hostName(r.Provider), r.Provider.Namespace, r.Provider.Type, r.VersionTag()}, "_")
	if len(ProviderTag+name) > maxTag {
		sum := sha256.Sum256([]byte(name))
		name = hex.EncodeToString(sum[:])
	}
	return ProviderTag + name
}

// VersionTag is the tag in the repository of the provider.
func (r Release) VersionTag() string { return oci.VersionTag(r.Version.String()) }

// RepositoryTemplate is below a mirror's repository, in the form of OpenTofu's repository_template.
const RepositoryTemplate = "providers/${hostname}/${namespace}/${type}"

// RepositoryOf is below a mirror's repository: providers/HOST/NAMESPACE/TYPE, with "_" before a port,
// because ":" is not allowed.
func RepositoryOf(p addrs.Provider) string {
	return "providers/" + hostName(p) + "/" + p.Namespace + "/" + p.Type
}

func hostName(p addrs.Provider) string { return strings.Replace(string(p.Hostname), ":", "_", 1) }

// Targets are the packages of a release, at most one for each platform.
type Targets []oci.Target

const maxTargets = 256

func (ts Targets) For(platform addrs.Platform) (oci.Target, bool) {
	i := slices.IndexFunc(ts, func(t oci.Target) bool { return t.Platform == platform })
	if i < 0 {
		return oci.Target{}, false
	}
	return ts[i], true
}

// With replaces the target for the same platform.
func (ts Targets) With(t oci.Target) Targets {
	others := slices.DeleteFunc(slices.Clone(ts), func(other oci.Target) bool { return other.Platform == t.Platform })
	return append(others, t)
}

// Index returns the same text for any order of targets.
func (r Release) Index(targets Targets) ([]byte, error) {
	return oci.Index{Targets: targets, Annotations: r.annotations()}.Encode()
}

// ParseIndex parses an index, possibly of another program. Errors wrap [ErrManifest].
func ParseIndex(text []byte) (Targets, error) {
	if err := checkSize(text); err != nil {
		return nil, err
	}
	index, err := oci.ParseIndex(oci.IndexType, text)
	if err != nil {
		return nil, bad("%w", err)
	}
	if len(index.Targets) > maxTargets {
		return nil, bad("it has more than %d manifests", maxTargets)
	}
	var targets Targets
	for _, t := range index.Targets {
		platform, err := addrs.ParsePlatform(t.Platform.String())
		if err != nil || !oci.IsSHA256(t.Digest) || t.Size <= 0 || t.Size > MaxManifest {
			return nil, bad("its manifest for %s has the digest %q and the size %d", t.Platform.OS, t.Digest, t.Size)
		}
		if _, twice := targets.For(platform); twice {
			return nil, bad("it has several manifests for %s", platform)
		}
		targets = append(targets, oci.Target{Platform: platform, Descriptor: t.Descriptor})
	}
	return targets, nil
}

// ParseTarget parses the manifest for a platform, which [oci.ReadManifest] has compared with its digest. If it is
// that of another package, the error wraps [ErrManifest].
func (r Release) ParseTarget(platform addrs.Platform, text []byte) (Provider, error) {
	a, err := ParseProvider(text)
	if s := a.Statement; err == nil && (s.Release != r || s.Platform != platform) {
		err = bad("it is %s %s for %s", s.Provider, s.Version, s.Platform)
	}
	return a, err
}

const referenceArtifact = "application/vnd.cotterpin.provider-reference"

// Reference is the manifest of the artifact by which a mirror lists a release. Its only blob is
// [oci.EmptyConfig].
func (r Release) Reference() ([]byte, error) {
	return oci.Manifest{ArtifactType: referenceArtifact, Layers: []oci.Layer{oci.EmptyLayer()}, Annotations: r.annotations()}.Encode()
}

// ParseReference parses a reference, or an index in a bundle. Errors wrap [ErrManifest].
func ParseReference(text []byte) (Release, error) {
	if err := checkSize(text); err != nil {
		return Release{}, err
	}
	if index, err := oci.ParseIndex(oci.IndexType, text); err == nil {
		return parseRelease(index.Annotations)
	}
	reference, err := oci.ParseManifest(oci.ManifestType, text, referenceArtifact)
	if err != nil {
		return Release{}, bad("%w", err)
	}
	return parseRelease(reference.Annotations)
}
