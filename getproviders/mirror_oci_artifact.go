package getproviders

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// Media types and artifact types of OpenTofu's format.
const (
	ociProviderType = "application/vnd.opentofu.provider"
	ociTargetType   = "application/vnd.opentofu.provider-target"
	ociArchiveType  = "archive/zip"
	ociIndex        = "application/vnd.oci.image.index.v1+json"
	ociManifest     = "application/vnd.oci.image.manifest.v1+json"
)

// ociDescriptor is the description of a manifest in an index, or of a layer in a manifest.
type ociDescriptor struct {
	MediaType    string `json:"mediaType"`
	ArtifactType string `json:"artifactType"`
	Digest       string `json:"digest"`
	Size         int64  `json:"size"`
	Platform     *struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
	} `json:"platform"`
}

// ociDigests matches the digests that registries can compute.
var ociDigests = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$`)
})

// ociDocument is an index or a manifest.
type ociDocument struct {
	MediaType    string          `json:"mediaType"`
	ArtifactType string          `json:"artifactType"`
	Manifests    []ociDescriptor `json:"manifests"`
	Layers       []ociDescriptor `json:"layers"`
}

// parseOCIDocument parses an index or a manifest, which must have this media type and artifact
// type. A document with both manifests and layers is an error, because it could be read as
// either.
func parseOCIDocument(found getmodules.OCIManifest, mediaType, artifactType string) (ociDocument, error) {
	var document ociDocument
	if found.MediaType != mediaType {
		return document, fmt.Errorf("%w: its media type is %q, and should be %q", ErrInvalidMirror, found.MediaType, mediaType)
	}
	if err := json.Unmarshal(found.Text, &document); err != nil {
		return document, fmt.Errorf("%w: its manifest cannot be read: %q", ErrInvalidMirror, err.Error())
	}
	switch {
	case document.MediaType != mediaType, document.Manifests != nil && document.Layers != nil:
		return document, fmt.Errorf("%w: its manifest says that it is something else: %q", ErrInvalidMirror, document.MediaType)
	case document.ArtifactType != artifactType:
		return document, fmt.Errorf("%w: its artifact type is %q, and should be %q", ErrInvalidMirror, document.ArtifactType, artifactType)
	}
	return document, nil
}

// parseOCIIndex returns the digest of an index's manifest for a platform.
func parseOCIIndex(found getmodules.OCIManifest, platform addrs.Platform) (string, error) {
	index, err := parseOCIDocument(found, ociIndex, ociProviderType)
	if err != nil {
		return "", err
	}
	target := ""
	for _, m := range index.Manifests {
		switch {
		case m.MediaType != ociManifest, m.ArtifactType != ociTargetType, m.Platform == nil:
			continue
		case m.Platform.OS != platform.OS, m.Platform.Architecture != platform.Arch:
			continue
		case target != "":
			return "", fmt.Errorf("%w: the index has several manifests for %s", ErrInvalidMirror, platform)
		case !ociDigests().MatchString(m.Digest):
			return "", fmt.Errorf("%w: the digest of the manifest for %s is %q", ErrInvalidMirror, platform, m.Digest)
		}
		target = m.Digest
	}
	if target == "" {
		return "", ErrUnsupportedPlatform
	}
	return target, nil
}

// parseOCITarget returns the layer of a platform's manifest that contains the archive.
func parseOCITarget(found getmodules.OCIManifest) (getmodules.OCIBlob, error) {
	none := getmodules.OCIBlob{}
	manifest, err := parseOCIDocument(found, ociManifest, ociTargetType)
	if err != nil {
		return none, err
	}
	var archives []ociDescriptor
	for _, layer := range manifest.Layers {
		if layer.MediaType == ociArchiveType {
			archives = append(archives, layer)
		}
	}
	if len(archives) != 1 {
		return none, fmt.Errorf("%w: the manifest has %d layers of the type %q, and should have one", ErrInvalidMirror, len(archives), ociArchiveType)
	}
	switch layer := archives[0]; {
	case !ociDigests().MatchString(layer.Digest):
		return none, fmt.Errorf("%w: the digest of the archive is %q", ErrInvalidMirror, layer.Digest)
	case layer.Size <= 0:
		return none, fmt.Errorf("%w: the size of the archive is %d", ErrInvalidMirror, layer.Size)
	case layer.Size > maxMirrorArchive:
		return none, fmt.Errorf("%w: the archive has %d bytes, more than %d", ErrTooLarge, layer.Size, maxMirrorArchive)
	default:
		return getmodules.OCIBlob{Digest: layer.Digest, Size: layer.Size}, nil
	}
}
