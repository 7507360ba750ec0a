package getmodules

import (
	"encoding/json"
	"fmt"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

const (
	// ociArtifactType and ociLayerType are what OpenTofu's documentation calls
	// a module package. See the package comment.
	ociArtifactType = "application/vnd.opentofu.modulepkg"
	ociLayerType    = "archive/zip"

	// The formats of Docker that came before those of OCI.
	dockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	dockerIndex    = "application/vnd.docker.distribution.manifest.list.v2+json"
)

func badArtifact(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrOCIArtifact, fmt.Errorf(format, args...))
}

// moduleLayer finds the layer that is the package in a manifest, whose media
// type is the one that the registry says.
func moduleLayer(mediaType string, text []byte, limit int64) (ocispec.Descriptor, error) {
	none := ocispec.Descriptor{}
	switch mediaType {
	case ocispec.MediaTypeImageManifest:
	case ocispec.MediaTypeImageIndex, dockerIndex:
		return none, badArtifact("it is an index of several artifacts; name one of them by its digest")
	case dockerManifest:
		return none, badArtifact("its manifest is in Docker's format; push it in the format of OCI")
	default:
		return none, badArtifact("the media type of its manifest is %q", mediaType)
	}
	var manifest struct {
		ocispec.Manifest
		// An index has this. A manifest with both is read as either.
		Manifests json.RawMessage `json:"manifests"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		return none, badArtifact("its manifest cannot be read: %w", err)
	}
	switch {
	case manifest.MediaType != mediaType || manifest.Manifests != nil:
		return none, badArtifact("its manifest says that it is something else: %q", manifest.MediaType)
	case manifest.ArtifactType == "":
		return none, badArtifact("it has no artifact type, as container images; push it with the type %q", ociArtifactType)
	case manifest.ArtifactType != ociArtifactType:
		return none, badArtifact("its artifact type is %q, and should be %q", manifest.ArtifactType, ociArtifactType)
	}
	return zipLayer(manifest.Layers, limit)
}

func zipLayer(layers []ocispec.Descriptor, limit int64) (found ocispec.Descriptor, err error) {
	count := 0
	for _, layer := range layers {
		if layer.MediaType == ociLayerType {
			found = layer
			count++
		}
	}
	switch {
	case len(layers) == 0:
		return found, badArtifact("it has no layers")
	case count == 0:
		return found, badArtifact("none of its %d layers is of the type %q; the first is %q", len(layers), ociLayerType, layers[0].MediaType)
	case count > 1:
		return found, badArtifact("it has %d layers of the type %q, and should have one", count, ociLayerType)
	case !ociDigest.MatchString(found.Digest.String()):
		return found, badArtifact("the digest of its layer is %q", found.Digest)
	case found.Size <= 0:
		return found, badArtifact("the size of its layer is %d", found.Size)
	case found.Size > limit:
		return found, fmt.Errorf("%w: the archive has %d bytes, more than %d", ErrTooLarge, found.Size, limit)
	}
	// Nothing else of the descriptor counts, such as other places to get it from.
	return ocispec.Descriptor{MediaType: found.MediaType, Digest: found.Digest, Size: found.Size}, nil
}
