package modtest

import (
	"io/fs"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

const (
	providerArtifact       = "application/vnd.opentofu.provider"
	providerTargetArtifact = "application/vnd.opentofu.provider-target"
)

// PushOCIProvider pushes the packages of a provider version in the provider registry to a
// repository of the OCI registry. name is the provider's name, such as "acme/cloud". The result
// has the format of an OCI mirror: an image index with a manifest for each platform, under the
// tag VERSION with "_" instead of "+". The error is a [*PublishError].
func (w *World) PushOCIProvider(repo, name, version string) error {
	release, ok := w.providers.release(name, version)
	if !ok {
		return publishError(name, version, fs.ErrNotExist)
	}
	return publishError(repo, version, w.oci.pushProvider(repo, release))
}

func (s *ociServer) pushProvider(repo string, release *providerRelease) error {
	var manifests []ocispec.Descriptor
	for _, p := range release.packages() {
		a := newArtifact(OCIModule, p.archive)
		a.manifest.ArtifactType = providerTargetArtifact
		for _, b := range a.blobs {
			if err := s.pushBlob(repo, b); err != nil {
				return err
			}
		}
		manifest, err := s.pushManifest(repo, "", a)
		if err != nil {
			return err
		}
		manifest.ArtifactType = providerTargetArtifact
		manifest.Platform = &ocispec.Platform{OS: p.platform.OS, Architecture: p.platform.Arch}
		manifests = append(manifests, manifest)
	}
	return s.pushIndex(repo, strings.ReplaceAll(release.version, "+", "_"), providerArtifact, manifests...)
}
