package artifact_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/disk/zipfile"
	"github.com/cotterpin/cotter/internal/net/oci"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// packageFiles has every kind of entry.
var packageFiles = fstest.MapFS{
	"main.tf":           {Data: []byte(strings.Repeat("resource \"x\" \"y\" {}\n", 100)), Mode: 0o600},
	"bin/run.sh":        {Data: []byte("#!/bin/sh\n"), Mode: 0o700},
	"empty":             {Mode: os.ModeDir | 0o755},
	"nothing.txt":       {},
	"link.tf":           {Data: []byte("main.tf"), Mode: os.ModeSymlink | 0o777},
	"modules/é/main.tf": {Data: []byte("# é\n")},
}

func packed(t *testing.T, files fstest.MapFS) ([]byte, *hashing.Tree) {
	t.Helper()
	tree, err := hashing.ReadTree(t.Context(), files)
	testenv.Must(t, err)
	var archive bytes.Buffer
	testenv.Must(t, artifact.WriteZip(t.Context(), &archive, files, tree, 0))
	return archive.Bytes(), tree
}

// The archive must not change from one release to the next, because mirrors and bundles would
// then have the same package twice.
func TestZipIsPinned(t *testing.T) {
	t.Parallel()
	archive, _ := packed(t, packageFiles)
	sum := sha256.Sum256(archive)
	const want = "8c3eea32ef3e4f4b1c14e82e5909671353a9185f00665880de09cd22610f6ab9"
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the archive has the sum %s, want %s", got, want)
	}
}

func TestZipRoundTrip(t *testing.T) {
	t.Parallel()
	archive, tree := packed(t, packageFiles)
	checkUnpacked(t, archive, tree)
}

// Archives with more entries than 16 bits can count have a directory in the 64-bit form, which stock tools read too.
func TestZipOfManyFiles(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for i := range 1<<16 + 1 {
		files[fmt.Sprintf("f%05d", i)] = &fstest.MapFile{}
	}
	archive, tree := packed(t, files)
	read, err := zipfile.Open(bytes.NewReader(archive), int64(len(archive)), zipfile.Limits{Entries: len(files)})
	testenv.Must(t, err)
	testenv.Must(t, read.Check())
	stock, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil || len(stock.File) != len(tree.Entries) || len(read.Entries) != len(tree.Entries) {
		t.Fatalf("%d entries, and %v; want %d", len(read.Entries), err, len(tree.Entries))
	}
	for i, entry := range tree.Entries {
		if read.Entries[i].Name != entry.Path || stock.File[i].Name != entry.Path {
			t.Fatalf("entry %d is %q, and for stock tools %q; want %q", i, read.Entries[i].Name, stock.File[i].Name, entry.Path)
		}
	}
}

// Mirrors and bundles have names of any bytes.
func TestZipOfUnusualNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the file systems of this system do not store all names")
	}
	dir := t.TempDir()
	for _, name := range []string{"Icon\r", `x\y`, "caf\xe9/\xff", "\u202ea", " ", "d./\x1b[2J"} {
		testenv.WriteFile(t, filepath.Join(dir, name), name)
	}
	testenv.Must(t, errors.Join(os.Mkdir(filepath.Join(dir, "e\xfe"), 0o755), os.Symlink("caf\xe9/\xff", filepath.Join(dir, "l\t"))))
	root, err := os.OpenRoot(dir)
	testenv.Must(t, err)
	tree, err := hashing.ReadTree(t.Context(), hashing.RootFS(root))
	testenv.Must(t, err)
	file, err := artifact.PackModule(t.Context(), t.TempDir(), func() (*os.Root, error) { return root, nil }, tree, 0)
	testenv.Must(t, err)
	archive, err := os.ReadFile(file.Name)
	testenv.Must(t, err)
	checkUnpacked(t, archive, tree)
}

func checkUnpacked(t *testing.T, archive []byte, tree *hashing.Tree) {
	t.Helper()
	name, dir := filepath.Join(t.TempDir(), "a.zip"), filepath.Join(t.TempDir(), "tree")
	testenv.Must(t, os.WriteFile(name, archive, 0o600))
	file, err := os.Open(name)
	testenv.Must(t, err)
	defer file.Close()
	if _, err := getmodules.ExtractArchive(t.Context(), file, "zip", dir, getmodules.Limits{}); err != nil {
		t.Fatal(err)
	}
	got, err := store.ReadTree(t.Context(), dir)
	testenv.Must(t, err)
	if diff := cmp.Diff(tree.Entries, got.Entries); diff != "" {
		t.Errorf("the extracted tree (-packed +extracted):\n%s", diff)
	}
}

// A file that changes between hashing and packing is an error.
func TestZipOfChangedFile(t *testing.T) {
	t.Parallel()
	tree, err := hashing.ReadTree(t.Context(), packageFiles)
	testenv.Must(t, err)
	for _, content := range []string{"", strings.Repeat("resource \"x\" \"z\" {}\n", 100), strings.Repeat("resource \"x\" \"y\" {}\n", 101)} {
		changed := fstest.MapFS{"main.tf": {Data: []byte(content)}}
		for name, file := range packageFiles {
			if name != "main.tf" {
				changed[name] = file
			}
		}
		if err := artifact.WriteZip(t.Context(), &bytes.Buffer{}, changed, tree, 0); !errors.Is(err, artifact.ErrChanged) {
			t.Errorf("with %d bytes: error is %v, want ErrChanged", len(content), err)
		}
	}
}

var (
	someT1 = hashing.Hash("t1:rG7cDV8qNG+y3QksUdumev+6VkK2hnjCKAZj6Vgm0F8=")
	someH1 = hashing.Hash("h1:CNCjfeE54kv0fs+TnDqsglbDHglTinMlmxa6sLTNZ1A=")
	entry  = lockfile.Module{
		Key: "a.b", Version: versions.MustParse("1.2.3"), Source: testenv.Source("registry.example.com/acme/net/aws"), Constraints: versions.MustParseConstraints("~> 1.0"),
		Package: testenv.Package("git::https://example.com/net.git//sub?ref=08f1a659885b11db83a8e987c65c5e6dec1497b9"),
		Hashes:  []hashing.Hash{someT1, "x9:unknown", someH1},
	}
)

// A statement does not include details of the call or hashes of unknown schemes.
func TestStatement(t *testing.T) {
	t.Parallel()
	statement := artifact.StatementOf(entry)
	other := entry
	other.Key, other.Constraints, other.Hashes = "c", versions.MustParseConstraints("1.2.3"), []hashing.Hash{someH1, someT1}
	if got := artifact.StatementOf(other).Tag(); got != statement.Tag() {
		t.Errorf("another call of the same package has the tag %s, want %s", got, statement.Tag())
	}
	for what, change := range map[string]func(*lockfile.Module){
		"source":  func(m *lockfile.Module) { m.Source = testenv.Source("registry.example.com/acme/other/aws") },
		"version": func(m *lockfile.Module) { m.Version = versions.MustParse("1.2.4") },
		"package": func(m *lockfile.Module) { m.Package = addrs.ModuleSourceRemote{} },
		"hashes":  func(m *lockfile.Module) { m.Hashes = m.Hashes[:1] },
	} {
		other := entry
		change(&other)
		if artifact.StatementOf(other).Tag() == statement.Tag() {
			t.Errorf("with another %s the tag is the same", what)
		}
	}
	if got, want := artifact.ContentTag(someT1), "t1-ac6edc0d5f2a346fb2dd092c51dba67affba5642b68678c2280663e95826d05f"; got != want {
		t.Errorf("ContentTag(%s) = %s, want %s", someT1, got, want)
	}
}

func someArtifact() artifact.Module {
	return artifact.Module{Statement: artifact.StatementOf(entry), Layer: oci.Descriptor{Digest: "sha256:" + strings.Repeat("01", 32), Size: 22}}
}

func TestManifest(t *testing.T) {
	t.Parallel()
	text, err := someArtifact().Manifest()
	testenv.Must(t, err)
	got, err := artifact.ParseModule(text)
	if diff := cmp.Diff(someArtifact(), got); diff != "" || err != nil {
		t.Errorf("ParseModule(Manifest()): %v (-want +got):\n%s", err, diff)
	}
	for _, test := range []struct{ old, new, says string }{
		{`{`, ``, "cannot be read"},
		{"manifest.v1+json", "index.v1+json", "media type"},
		{`"schemaVersion":2`, `"schemaVersion":2,"manifests":[]`, "media type"},
		{"modulepkg", "provider", "artifact type"},
		{"archive/zip", "application/zip", "one layer"},
		{`"size":22`, `"size":0`, "size 0"},
		{`"sha256:0101`, `"sha256:01`, "digest"},
		{"sha256:" + strings.Repeat("01", 32), "sha512:" + strings.Repeat("01", 64), "digest"},
		{`cotterpin.source`, `cotterpin.origin`, "annotations"},
		{`cotterpin.hashes`, `cotterpin.sums`, "annotations"},
		{string(someH1), "x9:unknown", "not a known hash"},
		{string(someH1) + " " + string(someT1), string(someT1) + " " + string(someH1), "not sorted"},
		{string(someH1) + " " + string(someT1), "zh:" + strings.Repeat("01", 32), "no hash of the tree"},
	} {
		changed := strings.Replace(string(text), test.old, test.new, 1)
		_, err := artifact.ParseModule([]byte(changed))
		if changed == string(text) || !errors.Is(err, artifact.ErrManifest) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("with %q for %q: error is %v, want ErrManifest with %q", test.new, test.old, err, test.says)
		}
	}
}

func FuzzParseModule(f *testing.F) {
	text, err := someArtifact().Manifest()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := artifact.ParseModule(text)
		if err != nil {
			return
		}
		again, err := got.Manifest()
		testenv.Must(t, err)
		parsed, err := artifact.ParseModule(again)
		if diff := cmp.Diff(got, parsed); err != nil || diff != "" {
			t.Errorf("%v; written and parsed again (-first +again):\n%s", err, diff)
		}
	})
}
