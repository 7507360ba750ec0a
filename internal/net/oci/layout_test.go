package oci_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	orasoci "oras.land/oras-go/v2/content/oci"

	"github.com/cotterpin/cotter/internal/net/oci"
)

// manifest is a small manifest whose layer is missing.
const manifest = `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"layers":[]}`

func blob(text string) oci.Blob {
	return oci.Blob{
		Descriptor: oci.Describe([]byte(text)),
		Open:       func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
	}
}

// written returns a layout with one manifest that has two tags.
func written(tb testing.TB, blobs ...oci.Blob) []byte {
	tb.Helper()
	at := blob(manifest).Descriptor
	refs := []oci.Ref{{Tag: "two", Manifest: at}, {Tag: "one", Manifest: at}}
	var file bytes.Buffer
	if err := oci.WriteLayout(&file, refs, blobs); err != nil {
		tb.Fatal(err)
	}
	return file.Bytes()
}

func open(t *testing.T, text []byte) (*oci.Layout, string, error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "layout.tar")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	layout, err := oci.ReadLayout(file)
	return layout, name, err
}

func read(t *testing.T, layout *oci.Layout, blob oci.Descriptor) (string, error) {
	t.Helper()
	content, err := layout.Fetch(t.Context(), blob.OCI(oci.ArchiveType))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(content)
	return string(text), err
}

func TestLayoutRoundTrip(t *testing.T) {
	t.Parallel()
	text := written(t, blob("layer"), blob(manifest), blob("{}"), blob("layer"))
	if !bytes.Equal(text, written(t, blob("{}"), blob("layer"), blob(manifest))) {
		t.Error("the order of the blobs matters")
	}
	layout, name, err := open(t, text)
	if err != nil {
		t.Fatal(err)
	}
	if refs := indexed(t); len(refs) != 2 || !refs[0].Index || refs[1].Index {
		t.Errorf("Refs of a layout with an index = %+v", refs)
	}
	at := blob(manifest).Descriptor
	want := []oci.Ref{{Tag: "one", Manifest: at}, {Tag: "two", Manifest: at}}
	if diff := cmp.Diff(want, layout.Refs()); diff != "" {
		t.Errorf("Refs (-want +got):\n%s", diff)
	}
	if got, err := read(t, layout, blob("layer").Descriptor); err != nil || got != "layer" {
		t.Errorf("the blob has %q, %v", got, err)
	}
	// The library that oras uses can read the layout.
	store, err := orasoci.NewFromTar(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	found, err := store.Resolve(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	byORAS, err := content.FetchAll(t.Context(), store, found)
	if err != nil || string(byORAS) != manifest || found.MediaType != ocispec.MediaTypeImageManifest {
		t.Errorf("oras reads %q as %q, %v", byORAS, found.MediaType, err)
	}
}

// indexed returns the refs of a layout with a manifest and an index of manifests.
func indexed(t *testing.T) []oci.Ref {
	t.Helper()
	index := `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}`
	refs := []oci.Ref{{Tag: "b", Manifest: blob(manifest).Descriptor}, {Tag: "a", ArtifactType: "x", Index: true, Manifest: blob(index).Descriptor}}
	var text bytes.Buffer
	if err := oci.WriteLayout(&text, refs, []oci.Blob{blob(manifest), blob(index), blob("{}")}); err != nil {
		t.Fatal(err)
	}
	layout, name, err := open(t, text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	store, err := orasoci.NewFromTar(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := store.Resolve(t.Context(), "a"); err != nil || found.MediaType != ocispec.MediaTypeImageIndex {
		t.Errorf("oras finds %+v, %v", found, err)
	}
	return layout.Refs()
}

type entry struct {
	header  tar.Header
	content string
}

func file(name, content string) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o644}, content}
}

func TestLayoutRefused(t *testing.T) {
	t.Parallel()
	version := file("oci-layout", `{"imageLayoutVersion":"1.0.0"}`)
	index := file("index.json", `{"schemaVersion":2,"manifests":[]}`)
	ref := `{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:0","size":1,"annotations":{"org.opencontainers.image.ref.name":"a"}}`
	for _, test := range []struct {
		name    string
		entries []entry
		says    string
	}{
		{"nothing", nil, `no file "oci-layout"`},
		{"no index", []entry{version}, `no file "index.json"`},
		{"other version", []entry{file("oci-layout", `{"imageLayoutVersion":"2.0.0"}`), index}, `version is "2.0.0"`},
		{"no JSON", []entry{version, file("index.json", `{`)}, `"index.json"`},
		{"large version", []entry{file("oci-layout", strings.Repeat(" ", 5000)), index}, "more than 4096 bytes"},
		{"twice", []entry{version, index, file("./index.json", "{}")}, "twice"},
		{"link", []entry{version, index, {tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "b"}, ""}}, "not a regular file"},
		{"key twice", []entry{version, file("index.json", `{"manifests":[],"manifests":[`+ref+`]}`)}, `the key "manifests" twice`},
		{"key in two cases", []entry{version, file("index.json", `{"manifests":[`+strings.Replace(ref, `"size"`, `"SIZE":2,"size"`, 1)+`]}`)}, `the keys "SIZE" and "size"`},
		{"tag twice", []entry{version, file("index.json", `{"manifests":[`+ref+","+ref+`]}`)}, `tag "a"`},
	} {
		if _, _, err := open(t, packed(t, test.entries)); !errors.Is(err, oci.ErrLayout) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: error is %v, want ErrLayout with %q", test.name, err, test.says)
		}
	}
	if _, _, err := open(t, []byte("no tar file")); !errors.Is(err, oci.ErrLayout) {
		t.Errorf("text: error is %v, want ErrLayout", err)
	}
}

// TestLayoutForeignRefs reads an index with what is not an artifact with a tag.
func TestLayoutForeignRefs(t *testing.T) {
	t.Parallel()
	foreign := `{"mediaType":"application/vnd.docker.distribution.manifest.v2+json","digest":"sha256:0","size":1,"annotations":{"org.opencontainers.image.ref.name":"a"}}`
	untagged := `{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:0","size":1}`
	layout, _, err := open(t, packed(t, []entry{
		file("oci-layout", `{"imageLayoutVersion":"1.0.0"}`),
		file("index.json", `{"manifests":[`+strings.Join([]string{foreign, foreign, untagged, untagged}, ",")+`]}`),
	}))
	if err != nil {
		t.Fatal(err)
	}
	if refs := layout.Refs(); len(refs) > 0 {
		t.Errorf("Refs = %+v, want none", refs)
	}
}

func packed(t *testing.T, entries []entry) []byte {
	t.Helper()
	var text bytes.Buffer
	out := tar.NewWriter(&text)
	for _, e := range entries {
		if err := errors.Join(out.WriteHeader(&e.header), writeString(out, e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

func writeString(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

func TestLayoutBadBlobs(t *testing.T) {
	t.Parallel()
	text := written(t, blob("layer"), blob("{}"))
	text = bytes.Replace(text, []byte("layer"), []byte("liars"), 1)
	layout, _, err := open(t, text)
	if err != nil {
		t.Fatal(err)
	}
	layer := blob("layer").Descriptor
	for _, test := range []struct {
		blob oci.Descriptor
		says string
	}{
		{layer, "does not match its digest"},
		{oci.Descriptor{Digest: layer.Digest, Size: 4}, "no blob"},
		{blob("other").Descriptor, "no blob"},
		{oci.Descriptor{Digest: "sha256:../../index.json"}, "the digest of a blob"},
		{oci.Descriptor{Digest: "sha512:" + strings.Repeat("0", 128)}, "the digest of a blob"},
	} {
		if _, err := read(t, layout, test.blob); !errors.Is(err, oci.ErrLayout) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v: error is %v, want ErrLayout with %q", test.blob, err, test.says)
		}
	}
}

func FuzzReadLayout(f *testing.F) {
	f.Add(written(f, blob("layer"), blob(manifest), blob("{}")))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := os.CreateTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }()
		if _, err := file.Write(text); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		layout, err := oci.ReadLayout(file)
		if err != nil {
			return
		}
		for _, ref := range layout.Refs() {
			if got, err := read(t, layout, ref.Manifest); err == nil && oci.Describe([]byte(got)) != ref.Manifest {
				t.Errorf("the blob %v has other bytes", ref.Manifest)
			}
		}
	})
}

// TestLayoutManyTags resolves all tags of a layout of a few megabytes whose manifests are missing.
// This must not take time that grows with the square of their number.
func TestLayoutManyTags(t *testing.T) {
	t.Parallel()
	const tags = 100_000
	refs := make([]oci.Ref, tags)
	for i := range refs {
		digest := fmt.Sprintf("sha256:%064x", i)
		refs[i] = oci.Ref{Tag: "entry-" + digest[7:], Manifest: oci.Descriptor{Digest: digest, Size: 2}}
	}
	var file bytes.Buffer
	if err := oci.WriteLayout(&file, refs, nil); err != nil {
		t.Fatal(err)
	}
	layout, _, err := open(t, file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for _, ref := range refs {
		for _, name := range []string{ref.Tag, ref.Manifest.Digest} {
			if found, err := layout.Resolve(t.Context(), name); err != nil || found.Digest.String() != ref.Manifest.Digest {
				t.Fatalf("Resolve(%q) = %v, %v", name, found, err)
			}
		}
		if since := time.Since(begin); since > 10*time.Second {
			t.Fatalf("the tags take more than %s", since)
		}
	}
}
