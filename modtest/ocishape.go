package modtest

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	specs "github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// OCIShape is the form of an artifact in the OCI registry. Clients should accept OCIModule and
// OCIForeignLayers, and refuse all others.
type OCIShape int

const (
	// OCIModule is a module package as OpenTofu documents it: an image manifest with the artifact type
	// "application/vnd.opentofu.modulepkg" and one layer "archive/zip".
	OCIModule OCIShape = iota
	// OCIForeignLayers has layers of other types around the right one, one of them at a URL, and a subject,
	// which clients should ignore.
	OCIForeignLayers
	// OCIWrongArtifactType has a different artifact type.
	OCIWrongArtifactType
	// OCINoArtifactType has no artifact type, like ordinary container images.
	OCINoArtifactType
	// OCITwoZipLayers has two layers "archive/zip".
	OCITwoZipLayers
	// OCINoZipLayer has one layer with the type "application/zip".
	OCINoZipLayer
	// OCINoLayers has no layers at all.
	OCINoLayers
	// OCIIndex is an image index that contains an OCIModule.
	OCIIndex
	// OCIDockerManifest is a manifest in Docker's older format.
	OCIDockerManifest
	// OCIWrongMediaType is an index by its content, and a manifest by the header of the answer.
	OCIWrongMediaType
	// OCIDigestMismatch is an OCIModule whose layer is served with different bytes.
	OCIDigestMismatch
	// OCILongSize states a size of the layer that is too large.
	OCILongSize
	// OCIShortSize states a size of the layer that is too small.
	OCIShortSize
	// OCIHugeSize states that the layer has 2^63-1 bytes.
	OCIHugeSize
	// OCINegativeSize states that the layer has -1 bytes.
	OCINegativeSize
	// OCIBadDigest refers to the layer by a digest that does not parse.
	OCIBadDigest
)

const (
	moduleArtifact = "application/vnd.opentofu.modulepkg"
	zipLayer       = "archive/zip"
	dockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	foreignLayer   = "application/vnd.docker.image.rootfs.foreign.diff.tar.gzip"
)

// ociBlob is served as lie, if that is not nil.
type ociBlob struct{ data, lie []byte }

type artifact struct {
	manifest  ocispec.Manifest
	mediaType string // in the registry's answers
	blobs     []ociBlob
}

func newArtifact(shape OCIShape, layer []byte) *artifact {
	a := &artifact{mediaType: ocispec.MediaTypeImageManifest}
	a.manifest = ocispec.Manifest{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    ocispec.MediaTypeImageManifest,
		ArtifactType: moduleArtifact,
		Config:       ocispec.DescriptorEmptyJSON,
		Layers:       []ocispec.Descriptor{describe(zipLayer, layer)},
	}
	a.manifest.Config.Data = nil
	a.blobs = []ociBlob{{data: []byte("{}")}, {data: layer}}
	a.distort(shape)
	return a
}

func describe(mediaType string, data []byte) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
}

func (a *artifact) distort(shape OCIShape) {
	m, layer := &a.manifest, &a.manifest.Layers[0]
	switch shape {
	case OCIForeignLayers:
		a.addForeign()
	case OCIWrongArtifactType:
		m.ArtifactType = "application/vnd.opentofu.provider"
	case OCINoArtifactType:
		m.ArtifactType = ""
	case OCITwoZipLayers:
		m.Layers = append(m.Layers, *layer)
	case OCINoZipLayer:
		layer.MediaType = "application/zip"
	case OCINoLayers:
		m.Layers = []ocispec.Descriptor{}
	case OCIDockerManifest:
		a.mediaType, m.MediaType = dockerManifest, dockerManifest
	case OCIWrongMediaType:
		m.MediaType = ocispec.MediaTypeImageIndex
	case OCIDigestMismatch:
		lie := slices.Clone(a.blobs[1].data)
		lie[len(lie)/2] ^= 1
		a.blobs[1].lie = lie
	case OCILongSize:
		layer.Size++
	case OCIShortSize:
		layer.Size--
	case OCIHugeSize:
		layer.Size = 1<<63 - 1
	case OCINegativeSize:
		layer.Size = -1
	case OCIBadDigest:
		layer.Digest = digest.Digest(strings.ToUpper(layer.Digest.String()))
	}
}

func (a *artifact) addForeign() {
	readme := []byte("# Read me\n")
	foreign := describe(foreignLayer, []byte("elsewhere"))
	foreign.URLs = []string{"https://elsewhere.example.com/layer"}
	zip := a.manifest.Layers[0]
	zip.URLs = []string{"https://elsewhere.example.com/zip"}
	a.manifest.Layers = []ocispec.Descriptor{describe("text/markdown", readme), zip, foreign}
	subject := describe(ocispec.MediaTypeImageManifest, []byte("nothing"))
	a.manifest.Subject = &subject
	a.blobs = append(a.blobs, ociBlob{data: readme})
}

func (s *ociServer) pushBlob(repo string, b ociBlob) error {
	desc := describe("application/octet-stream", b.data)
	if _, err := s.memory.PushBlob(context.Background(), repo, desc, bytes.NewReader(b.data)); err != nil {
		return err
	}
	at := "/v2/" + repo + "/blobs/" + desc.Digest.String()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.lies, at)
	if b.lie != nil {
		s.lies[at] = b.lie
	}
	return nil
}

func (s *ociServer) pushArtifact(repo, tag string, a *artifact) (ocispec.Descriptor, error) {
	for _, b := range a.blobs {
		if err := s.pushBlob(repo, b); err != nil {
			return ocispec.Descriptor{}, err
		}
	}
	text, err := json.Marshal(a.manifest)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	return s.memory.PushManifest(context.Background(), repo, tag, text, a.mediaType)
}

func (s *ociServer) pushIndex(repo, tag, artifactType string, manifests ...ocispec.Descriptor) error {
	text, err := json.Marshal(ocispec.Index{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    ocispec.MediaTypeImageIndex,
		ArtifactType: artifactType,
		Manifests:    manifests,
	})
	if err != nil {
		return err
	}
	_, err = s.memory.PushManifest(context.Background(), repo, tag, text, ocispec.MediaTypeImageIndex)
	return err
}
