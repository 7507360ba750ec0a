package oci

import (
	"encoding/json"
	"errors"
	"fmt"

	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter/internal/text/jsonkeys"
)

const (
	ManifestType = ocispec.MediaTypeImageManifest
	IndexType    = ocispec.MediaTypeImageIndex
	ArchiveType  = "archive/zip"

	dockerManifestType = "application/vnd.docker.distribution.manifest.v2+json"
	dockerIndexType    = "application/vnd.docker.distribution.manifest.list.v2+json"
)

// Artifact types of OpenTofu.
const (
	ModuleArtifact = "application/vnd.opentofu.modulepkg"
	// ProviderArtifact is the index of a version of a provider, and TargetArtifact the manifest for one
	// platform.
	ProviderArtifact = "application/vnd.opentofu.provider"
	TargetArtifact   = "application/vnd.opentofu.provider-target"
)

// EmptyConfig is the config blob of all manifests that this package writes.
const EmptyConfig = "{}"

type Manifest struct {
	ArtifactType string
	Layers       []Layer
	Annotations  map[string]string
}

type Layer struct {
	MediaType string
	Descriptor
}

// EmptyLayer is for an artifact without content. Its blob is [EmptyConfig].
func EmptyLayer() Layer {
	return Layer{ocispec.MediaTypeEmptyJSON, descriptorOf(ocispec.DescriptorEmptyJSON)}
}

// Encode returns equal texts for equal manifests.
func (m Manifest) Encode() ([]byte, error) {
	document := ocispec.Manifest{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    ManifestType,
		ArtifactType: m.ArtifactType,
		Config:       descriptorOf(ocispec.DescriptorEmptyJSON).OCI(ocispec.MediaTypeEmptyJSON),
		Layers:       []ocispec.Descriptor{},
		Annotations:  m.Annotations,
	}
	for _, layer := range m.Layers {
		document.Layers = append(document.Layers, layer.OCI(layer.MediaType))
	}
	return json.Marshal(document)
}

// ParseManifest requires an artifact type. mediaType is that of the registry's answer, or [ManifestType].
func ParseManifest(mediaType string, text []byte, artifactType string) (*Manifest, error) {
	var document struct {
		ocispec.Manifest
		Manifests json.RawMessage `json:"manifests"` // which indexes have
	}
	if err := checkMediaType(mediaType, ManifestType); err != nil {
		return nil, err
	}
	if err := jsonkeys.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("its manifest cannot be read: %w", err)
	}
	if document.MediaType != ManifestType || document.Manifests != nil {
		return nil, otherDocument(ManifestType, document.MediaType)
	}
	if err := checkArtifactType(document.ArtifactType, artifactType); err != nil {
		return nil, err
	}
	m := &Manifest{ArtifactType: document.ArtifactType, Annotations: document.Annotations}
	for _, layer := range document.Layers {
		// Other fields, such as further locations, are not used.
		m.Layers = append(m.Layers, Layer{layer.MediaType, descriptorOf(layer)})
	}
	return m, nil
}

// Archive returns the only layer of the type [ArchiveType], with a digest and a positive size.
func (m *Manifest) Archive() (Descriptor, error) {
	var found Descriptor
	count := 0
	for _, layer := range m.Layers {
		if layer.MediaType == ArchiveType {
			found = layer.Descriptor
			count++
		}
	}
	switch {
	case len(m.Layers) == 0:
		return Descriptor{}, errors.New("it has no layers")
	case count == 0:
		return Descriptor{}, fmt.Errorf("it should have one layer of the type %q, and has 0 layers of it; the type of the first layer is %q", ArchiveType, m.Layers[0].MediaType)
	case count > 1:
		return Descriptor{}, fmt.Errorf("it should have one layer of the type %q, and has %d layers of it", ArchiveType, count)
	case !IsDigest(found.Digest) || found.Size <= 0:
		return Descriptor{}, fmt.Errorf("its layer has the digest %q and the size %d", found.Digest, found.Size)
	}
	return found, nil
}

// IsIndex knows the formats of OCI and of Docker.
func IsIndex(mediaType string) bool { return mediaType == IndexType || mediaType == dockerIndexType }

func checkMediaType(found, want string) error {
	switch found {
	case want:
		return nil
	case dockerManifestType:
		return errors.New("its manifest is in Docker's format; push it in the format of OCI")
	}
	return fmt.Errorf("its media type is %q, and should be %q", found, want)
}

func otherDocument(mediaType, found string) error {
	return fmt.Errorf("its media type is %q, and its content says that it is something else: %q", mediaType, found)
}

func checkArtifactType(found, want string) error {
	switch found {
	case want:
		return nil
	case "":
		return fmt.Errorf("it has no artifact type, like a container image; push it with the artifact type %q", want)
	}
	return fmt.Errorf("its artifact type is %q, and should be %q", found, want)
}
