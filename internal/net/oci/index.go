package oci

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/text/jsonkeys"
)

// Index is the image index to which the tag of a version of a provider points.
type Index struct {
	Targets     []Target
	Annotations map[string]string
	// Unfit are the entries for platforms that are not targets, with the reason. OpenTofu ignores them.
	Unfit []Unfit
}

// Unfit is an entry of an index that has a platform and another artifact type than [TargetArtifact], or none, as
// from a tool for container images.
type Unfit struct {
	Platform addrs.Platform
	Err      error
}

// Target is the entry for one platform: a manifest of the type [TargetArtifact].
type Target struct {
	Platform addrs.Platform
	Descriptor
}

// Encode returns the same text for any order of targets.
func (x Index) Encode() ([]byte, error) {
	document := ocispec.Index{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    IndexType,
		ArtifactType: ProviderArtifact,
		Manifests:    []ocispec.Descriptor{},
		Annotations:  x.Annotations,
	}
	for _, t := range x.Targets {
		m := t.OCI(ManifestType)
		m.ArtifactType = TargetArtifact
		m.Platform = &ocispec.Platform{OS: t.Platform.OS, Architecture: t.Platform.Arch}
		document.Manifests = append(document.Manifests, m)
	}
	sortBy(document.Manifests, func(m ocispec.Descriptor) string { return m.Platform.OS + "_" + m.Platform.Architecture })
	return json.Marshal(document)
}

func sortBy(manifests []ocispec.Descriptor, key func(ocispec.Descriptor) string) {
	slices.SortFunc(manifests, func(a, b ocispec.Descriptor) int { return strings.Compare(key(a), key(b)) })
}

// ParseIndex parses the index of a version of a provider. mediaType is that of the registry's answer, or
// [IndexType]. Platforms, digests and sizes are not checked, and a platform can have several.
func ParseIndex(mediaType string, text []byte) (*Index, error) {
	var document struct {
		ocispec.Index
		Layers json.RawMessage `json:"layers"` // which manifests have
	}
	if err := checkMediaType(mediaType, IndexType); err != nil {
		return nil, err
	}
	if err := jsonkeys.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("its index cannot be read: %w", err)
	}
	if document.MediaType != IndexType || document.Layers != nil {
		return nil, otherDocument(IndexType, document.MediaType)
	}
	if err := checkArtifactType(document.ArtifactType, ProviderArtifact); err != nil {
		return nil, err
	}
	index := &Index{Annotations: document.Annotations}
	for _, m := range document.Manifests {
		if m.Platform == nil {
			continue
		}
		platform := addrs.Platform{OS: m.Platform.OS, Arch: m.Platform.Architecture}
		err := checkMediaType(m.MediaType, ManifestType)
		if err == nil {
			err = checkArtifactType(m.ArtifactType, TargetArtifact)
		}
		if err != nil {
			index.Unfit = append(index.Unfit, Unfit{platform, err})
			continue
		}
		index.Targets = append(index.Targets, Target{platform, descriptorOf(m)})
	}
	return index, nil
}

// VersionTag returns the tag of a version, without "v" and with "_" for the "+" that tags cannot have.
func VersionTag(version string) string { return strings.Replace(version, "+", "_", 1) }

// VersionOfTag is the inverse; the result need not be a version.
func VersionOfTag(tag string) string { return strings.Replace(tag, "_", "+", 1) }
