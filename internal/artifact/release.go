package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/oci"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// Release is a version of a provider.
type Release struct {
	Provider addrs.Provider
	Version  versions.Version
}

// ReleaseOf returns the release of a lock's entry.
func ReleaseOf(entry lockfile.Provider) Release { return Release{entry.Address, entry.Version} }

// ProviderTag is the prefix of the tags of all releases.
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
func (r Release) VersionTag() string { return oci.VersionTag(r.Version.String()) }

// RepositoryTemplate is the location of providers' repositories below a mirror's repository, in
// the form of the repository_template in OpenTofu's CLI configuration.
const RepositoryTemplate = "providers/${hostname}/${namespace}/${type}"

// RepositoryOf returns the repository of a provider below a mirror's repository:
// providers/HOST/NAMESPACE/TYPE. If the host has a port, it is separated by "_", because the name
// of a repository must not contain ":".
func RepositoryOf(p addrs.Provider) string {
	return "providers/" + hostName(p) + "/" + p.Namespace + "/" + p.Type
}

func hostName(p addrs.Provider) string { return strings.Replace(string(p.Hostname), ":", "_", 1) }

// Targets are the packages of a release, at most one for each platform.
type Targets []oci.Target

// maxTargets is the maximum number of platforms in an index.
const maxTargets = 256

// For returns the target for a platform.
func (ts Targets) For(platform addrs.Platform) (oci.Target, bool) {
	i := slices.IndexFunc(ts, func(t oci.Target) bool { return t.Platform == platform })
	if i < 0 {
		return oci.Target{}, false
	}
	return ts[i], true
}

// With returns the targets with t, which replaces the target for the same platform.
func (ts Targets) With(t oci.Target) Targets {
	others := slices.DeleteFunc(slices.Clone(ts), func(other oci.Target) bool { return other.Platform == t.Platform })
	return append(others, t)
}

// Index returns the index of a release. The order of targets does not matter.
func (r Release) Index(targets Targets) ([]byte, error) {
	return oci.Index{Targets: targets, Annotations: r.annotations()}.Encode()
}

// ParseIndex returns the targets of an index, which may have been created by another program. Its
// errors wrap [ErrManifest].
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

// ParseTarget returns the artifact of a target from its manifest. If the manifest belongs to
// another package, the error wraps [ErrManifest].
func (r Release) ParseTarget(t oci.Target, text []byte) (Provider, error) {
	if oci.Describe(text).Digest != t.Digest {
		return Provider{}, bad("its manifest does not match the digest in the index")
	}
	a, err := ParseProvider(text)
	if s := a.Statement; err == nil && (s.Release != r || s.Platform != t.Platform) {
		err = bad("it is %s %s for %s", s.Provider, s.Version, s.Platform)
	}
	return a, err
}

const referenceArtifact = "application/vnd.cotterpin.provider-reference"

// Reference returns the manifest of the artifact by which a mirror lists a release. Its only blob
// is [oci.EmptyConfig].
func (r Release) Reference() ([]byte, error) {
	return oci.Manifest{ArtifactType: referenceArtifact, Layers: []oci.Layer{oci.EmptyLayer()}, Annotations: r.annotations()}.Encode()
}

// ParseReference returns the release of a reference, or of an index in a bundle. Its errors wrap
// [ErrManifest].
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
