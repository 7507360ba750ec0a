package ocistore_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"archive/zip"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/ocistore"
)

// memory is a repository in memory. blobs has the contents by their digests.
type memory struct {
	tags  map[string]ocispec.Descriptor
	blobs map[digest.Digest][]byte
}

func (m memory) Resolve(_ context.Context, reference string) (ocispec.Descriptor, error) {
	for tag, manifest := range m.tags {
		if tag == reference || manifest.Digest.String() == reference {
			return manifest, nil
		}
	}
	return ocispec.Descriptor{}, fs.ErrNotExist
}

func (m memory) Fetch(_ context.Context, target ocispec.Descriptor) (io.ReadCloser, error) {
	blob, ok := m.blobs[target.Digest]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(blob)), nil
}

func (m memory) Tags(_ context.Context, _ string, page func([]string) error) error {
	return page(slices.Sorted(maps.Keys(m.tags)))
}

func (m memory) add(mediaType string, content []byte) ocispec.Descriptor {
	at := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(content), Size: int64(len(content))}
	m.blobs[at.Digest] = content
	return at
}

// registry opens the same repository for every address.
type registry struct{ only memory }

func (r registry) OpenOCI(context.Context, string, string) (ocistore.Repository, error) {
	return r.only, nil
}

// A program's own repositories take the place of OCI registries: here an artifact in memory.
func Example() {
	repository := memory{map[string]ocispec.Descriptor{}, map[digest.Digest][]byte{}}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	file, err := w.Create("main.tf")
	if err == nil {
		_, err = io.WriteString(file, "# network\n")
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		log.Fatal(err)
	}
	layer := repository.add("archive/zip", archive.Bytes())
	repository.tags["1.0.0"] = repository.add(ocispec.MediaTypeImageManifest, fmt.Appendf(nil,
		`{"schemaVersion": 2, "mediaType": %q, "artifactType": "application/vnd.opentofu.modulepkg",
		"layers": [{"mediaType": "archive/zip", "digest": %q, "size": %d}]}`,
		ocispec.MediaTypeImageManifest, layer.Digest, layer.Size))

	staging, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(staging)
	fetcher := getmodules.Fetcher{OCI: registry{repository}}
	pkg, err := fetcher.Fetch(context.Background(), getmodules.Request{
		Package: addrs.ParseModulePackage("oci://artifacts.example.com/network?tag=1.0.0"),
		Dir:     filepath.Join(staging, "network"),
	})
	if err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(staging, "network", "main.tf"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(text))
	fmt.Println(pkg.Revision == repository.tags["1.0.0"].Digest.String())
	// Output:
	// # network
	// true
}
