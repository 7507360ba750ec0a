package modtest

import (
	"context"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"cuelabs.dev/go/oci/ociregistry/ocimem"
	"cuelabs.dev/go/oci/ociregistry/ociserver"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// ociServer keeps its repositories in memory.
type ociServer struct {
	opts   Options
	host   string
	memory *ocimem.Registry
	server http.Handler

	mu     sync.Mutex
	lies   map[string][]byte // wrong content of blobs, by the request's path
	tokens map[string]string // the scope of each issued token
}

func newOCIServer(fsys fs.FS, opts Options, host string) (*ociServer, error) {
	// Some shapes refer to missing blobs.
	memory := ocimem.NewWithConfig(&ocimem.Config{LaxChildReferences: true})
	s := &ociServer{
		opts:   opts,
		host:   host,
		memory: memory,
		server: ociserver.New(memory, nil),
		lies:   map[string][]byte{},
		tokens: map[string]string{},
	}
	tags, err := directoriesAt(fsys, "oci", 2)
	if err != nil {
		return nil, err
	}
	for _, at := range tags {
		if err := s.load(fsys, at); err != nil {
			return nil, &TreeError{path.Join("oci", at), err}
		}
	}
	return s, nil
}

func (s *ociServer) load(fsys fs.FS, at string) error {
	name, tag, _ := strings.Cut(at, "/")
	repo, err := url.PathUnescape(name)
	if err != nil {
		return err
	}
	files, err := subtree(fsys, path.Join("oci", at))
	if err != nil {
		return err
	}
	return s.push(repo, tag, OCIModule, files)
}

func (s *ociServer) push(repo, tag string, shape OCIShape, fsys fs.FS) error {
	files, err := readFiles(fsys, s.host)
	if err != nil {
		return err
	}
	layer, err := packZip(files)
	if err != nil {
		return err
	}
	manifest, err := s.pushArtifact(repo, tag, newArtifact(shape, layer))
	if err != nil {
		return err
	}
	if shape == OCIIndex {
		return s.pushIndex(repo, tag, moduleArtifact, manifest)
	}
	return nil
}

func (s *ociServer) digest(repo, tag string) (string, error) {
	found, err := s.memory.ResolveTag(context.Background(), repo, tag)
	if err != nil {
		return "", fs.ErrNotExist // a registry in memory fails for no other reason
	}
	return found.Digest.String(), nil
}

const (
	providerArtifact       = "application/vnd.opentofu.provider"
	providerTargetArtifact = "application/vnd.opentofu.provider-target"
)

// PushOCIProvider pushes the packages of a version of a provider ("acme/cloud") to a repository, in the
// format of an OCI mirror: an image index with a manifest for each platform, under the tag VERSION with "_"
// for "+". The error is a [*PublishError].
func (w *World) PushOCIProvider(repo, name, version string) error {
	release, ok := w.providers.releases.get(name, version)
	if !ok {
		return publishError(name, version, fs.ErrNotExist)
	}
	return publishError(repo, version, w.oci.pushProvider(repo, release))
}

func (s *ociServer) pushProvider(repo string, release *providerRelease) error {
	var manifests []ocispec.Descriptor
	for _, p := range release.packages {
		a := newArtifact(OCIModule, p.archive)
		a.manifest.ArtifactType = providerTargetArtifact
		manifest, err := s.pushArtifact(repo, "", a)
		if err != nil {
			return err
		}
		manifest.ArtifactType = providerTargetArtifact
		manifest.Platform = &ocispec.Platform{OS: p.platform.OS, Architecture: p.platform.Arch}
		manifests = append(manifests, manifest)
	}
	return s.pushIndex(repo, strings.ReplaceAll(release.version, "+", "_"), providerArtifact, manifests...)
}
