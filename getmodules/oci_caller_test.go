package getmodules_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content/memory"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/ocistore"
	"github.com/cotterpin/cotter/versions"
)

// memoryStore is oras-go's store in memory, with the method that it lacks.
type memoryStore struct {
	*memory.Store
	tags []string
	// change changes what Fetch returns. It may be nil.
	change func(target ocispec.Descriptor, body io.ReadCloser) io.ReadCloser
}

func (m *memoryStore) Tags(_ context.Context, _ string, page func([]string) error) error {
	return page(m.tags)
}

func (m *memoryStore) Fetch(ctx context.Context, target ocispec.Descriptor) (io.ReadCloser, error) {
	body, err := m.Store.Fetch(ctx, target)
	if err == nil && m.change != nil {
		body = m.change(target, body)
	}
	return body, err
}

func (m *memoryStore) push(t *testing.T, mediaType string, text []byte, tags ...string) ocispec.Descriptor {
	t.Helper()
	at := ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(text), Size: int64(len(text))}
	testenv.Must(t, m.Push(t.Context(), at, bytes.NewReader(text)))
	for _, tag := range tags {
		testenv.Must(t, m.Tag(t.Context(), at, tag))
	}
	return at
}

type openers map[string]ocistore.Repository

func (o openers) OpenOCI(_ context.Context, host, repository string) (ocistore.Repository, error) {
	return o[host+"/"+repository], nil
}

// newMemoryStore returns a store with a module package.
func newMemoryStore(t *testing.T) (*memoryStore, ocispec.Descriptor) {
	t.Helper()
	m := &memoryStore{Store: memory.New(), tags: []string{"1.0.0", "latest"}}
	m.push(t, "application/vnd.oci.empty.v1+json", []byte("{}"))
	layer := m.push(t, "archive/zip", sampleZip())
	text := fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"artifactType":"application/vnd.opentofu.modulepkg",`+
		`"config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},`+
		`"layers":[{"mediaType":"archive/zip","digest":%q,"size":%d}]}`, ocispec.MediaTypeImageManifest, layer.Digest, layer.Size)
	at := m.push(t, ocispec.MediaTypeImageManifest, []byte(text), "1.0.0", "latest")
	testenv.Must(t, m.Tag(t.Context(), at, at.Digest.String()))
	return m, at
}

// TestOCIOfCaller fetches from a store of oras-go, without a registry.
func TestOCIOfCaller(t *testing.T) {
	t.Parallel()
	store, manifest := newMemoryStore(t)
	f := newHTTPFetcher()
	f.OCI = openers{"oci.example.com/net": store}
	const address = "oci://oci.example.com/net"
	for _, query := range []string{"", "?tag=1.0.0", "?digest=" + manifest.Digest.String()} {
		pkg, err := f.Fetch(t.Context(), getmodules.Request{Package: pkgOf(address + query), Dir: filepath.Join(t.TempDir(), "net")})
		if err != nil || pkg.Revision != manifest.Digest.String() || pkg.ArchiveSum != "zh:"+digest.FromBytes(sampleZip()).Encoded() {
			t.Errorf("%q: %+v, %v", query, pkg, err)
		}
	}
	ref, err := f.Reference(t.Context(), getmodules.Request{Package: pkgOf(address + "?tag=1.0.0")})
	if err != nil || ref.Revision != manifest.Digest.String() {
		t.Errorf("Reference = %v, %v", ref, err)
	}
	if found, err := versions.FromOCITags(t.Context(), openOCI(t, f, address)); err != nil || len(found) != 1 {
		t.Errorf("List = %v, %v", found, err)
	}
	_, err = f.Fetch(t.Context(), getmodules.Request{Package: pkgOf(address + "?tag=none"), Dir: filepath.Join(t.TempDir(), "net")})
	if _, ok := errors.AsType[*getmodules.FetchError](err); !ok || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a tag that does not exist: %v", err)
	}
	if _, err := f.OpenOCI(t.Context(), "oci.example.com", "other"); !errors.Is(err, getmodules.ErrOCIContent) {
		t.Errorf("a repository that was not opened: %v", err)
	}
	writer, err := f.OCIWriter("oci.example.com", "net")
	testenv.Must(t, err)
	var refused *getmodules.PushError
	if err := writer.PushManifest(t.Context(), "2.0.0", ocispec.MediaTypeImageManifest, []byte(pushedManifest)); !errors.As(err, &refused) {
		t.Errorf("PushManifest = %v, want a *PushError: the repository can only be read", err)
	}
}

type body struct {
	io.Reader
	io.Closer
}

// TestOCIOfCallerIsChecked gives contents that do not match their descriptors.
func TestOCIOfCallerIsChecked(t *testing.T) {
	t.Parallel()
	for _, mediaType := range []string{ocispec.MediaTypeImageManifest, "archive/zip"} {
		for name, change := range map[string]func(io.Reader) io.Reader{
			"truncated": func(r io.Reader) io.Reader { return io.LimitReader(r, 20) },
			"longer":    func(r io.Reader) io.Reader { return io.MultiReader(r, strings.NewReader("x")) },
			"other": func(r io.Reader) io.Reader {
				text, _ := io.ReadAll(r)
				text[len(text)-1] ^= 1
				return bytes.NewReader(text)
			},
		} {
			store, manifest := newMemoryStore(t)
			store.change = func(target ocispec.Descriptor, from io.ReadCloser) io.ReadCloser {
				if target.MediaType != mediaType {
					return from
				}
				return body{change(from), from}
			}
			f := newHTTPFetcher()
			f.OCI = openers{"oci.example.com/net": store}
			for _, query := range []string{"", "?digest=" + manifest.Digest.String()} {
				_, err := f.Fetch(t.Context(), getmodules.Request{Package: pkgOf("oci://oci.example.com/net" + query), Dir: filepath.Join(t.TempDir(), "net")})
				if !errors.Is(err, getmodules.ErrOCIContent) {
					t.Errorf("%s, %s%s: error is %v, want ErrOCIContent", mediaType, name, query, err)
				}
			}
		}
	}
}

// otherManifest resolves every reference to the same manifest.
type otherManifest struct{ *memoryStore }

func (o otherManifest) Resolve(ctx context.Context, _ string) (ocispec.Descriptor, error) {
	return o.memoryStore.Resolve(ctx, "latest")
}

// TestOCIOfCallerResolvesAnother asks for a digest and gets another manifest.
func TestOCIOfCallerResolvesAnother(t *testing.T) {
	t.Parallel()
	store, _ := newMemoryStore(t)
	f := newHTTPFetcher()
	f.OCI = openers{"oci.example.com/net": otherManifest{store}}
	_, err := f.Fetch(t.Context(), getmodules.Request{Package: pkgOf("oci://oci.example.com/net?digest=" + someDigest), Dir: filepath.Join(t.TempDir(), "net")})
	if !errors.Is(err, getmodules.ErrOCIContent) {
		t.Errorf("error is %v, want ErrOCIContent", err)
	}
}
