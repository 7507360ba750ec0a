package artifact

import (
	"fmt"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// ProviderStatement is what locks state about a package for one platform.
type ProviderStatement struct {
	Release
	Platform addrs.Platform
	// Hashes are sorted: the h1 of the content, and the zh of the archive if a lock has it.
	Hashes []hashing.Hash
}

func (s ProviderStatement) IsIn(locked []hashing.Hash) bool {
	return slices.ContainsFunc(s.Hashes, func(h hashing.Hash) bool { return slices.Contains(locked, h) })
}

// ProviderKey is different for different statements of a lock entry about a platform.
func ProviderKey(entry lockfile.Provider, platform addrs.Platform) string {
	return fmt.Sprintf("%s %s %q", ReleaseOf(entry).Tag(), platform, entry.Hashes)
}

const (
	annotationProvider = "io.github.cotterpin.provider"
	annotationPlatform = "io.github.cotterpin.platform"
)

func (ProviderStatement) artifactType() string { return oci.TargetArtifact }

func (s ProviderStatement) annotations() map[string]string {
	annotations := s.Release.annotations()
	annotations[annotationPlatform] = s.Platform.String()
	annotations[annotationHashes] = joinHashes(s.Hashes)
	return annotations
}

func parseProviderStatement(annotations map[string]string) (s ProviderStatement, err error) {
	if s.Release, err = parseRelease(annotations); err != nil {
		return s, err
	}
	if s.Platform, err = addrs.ParsePlatform(annotations[annotationPlatform]); err != nil {
		return s, bad("%w", err)
	}
	s.Hashes, err = parseHashes(annotations[annotationHashes])
	return s, err
}

func (r Release) annotations() map[string]string {
	return map[string]string{annotationProvider: r.Provider.String(), annotationVersion: r.Version.String()}
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
