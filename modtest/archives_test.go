package modtest_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

var packed = fstest.MapFS{
	"main.tf":    {Data: []byte("# main\n")},
	"bin/run.sh": {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
	"link.tf":    {Data: []byte("main.tf"), Mode: fs.ModeSymlink},
}

// entries are the expected entries of an archive: "mode path: data or target".
var entries = []string{
	"-rwxr-xr-x bin/run.sh: #!/bin/sh\n",
	"Lrwxrwxrwx link.tf: main.tf",
	"-rw-r--r-- main.tf: # main\n",
}

func tree(prefixes ...string) fstest.MapFS {
	all := fstest.MapFS{}
	for _, prefix := range prefixes {
		for name, f := range packed {
			all[prefix+"/"+name] = f
		}
	}
	return all
}

func TestArchives(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, tree("archives/net.zip", "archives/deep/er/net.tar.gz"))
	for name, read := range map[string]func(*testing.T, string) []string{
		"net.zip":            unzip,
		"deep/er/net.tar.gz": untar,
	} {
		url := world.ArchiveSource(name, "")
		r := get(t, world, url)
		if r.status != http.StatusOK {
			t.Fatalf("GET %s = %d", url, r.status)
		}
		if diff := cmp.Diff(entries, read(t, r.body)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if again := get(t, world, url); again.body != r.body {
			t.Errorf("%s differs the second time", name)
		}
	}
	if r := get(t, world, "/archives/none.zip"); r.status != http.StatusNotFound {
		t.Errorf("an archive that is not there = %d, want 404", r.status)
	}
}

func unzip(t *testing.T, data string) []string {
	t.Helper()
	zr, err := zip.NewReader(strings.NewReader(data), int64(len(data)))
	testenv.Must(t, err)
	var got []string
	for _, f := range zr.File {
		r, err := f.Open()
		testenv.Must(t, err)
		content, err := io.ReadAll(r)
		testenv.Must(t, err)
		got = append(got, f.Mode().String()+" "+f.Name+": "+string(content))
	}
	return got
}

func untar(t *testing.T, data string) []string {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader([]byte(data)))
	testenv.Must(t, err)
	var got []string
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return got
		}
		testenv.Must(t, err)
		content, err := io.ReadAll(tr)
		testenv.Must(t, err)
		got = append(got, h.FileInfo().Mode().String()+" "+h.Name+": "+string(content)+h.Linkname)
	}
}

func TestPublishArchive(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar("-- archives/net.zip/main.tf --\n# main\n"))
	for _, name := range []string{"net.zip", "a/new.zip"} {
		testenv.Must(t, world.PublishArchive(name, modtest.Txtar("-- new.tf --\n# MODTEST_HOST\n")))
		want := []string{"-rw-r--r-- new.tf: # " + string(world.Host()) + "\n"}
		if diff := cmp.Diff(want, unzip(t, get(t, world, "/archives/"+name).body)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	world := modtest.New(t, modtest.Txtar("-- files/a/b.html --\n<b>MODTEST_HOST</b>\n-- config/main.tf --\n"))
	if r, want := get(t, world, "/files/a/b.html"), "<b>"+string(world.Host())+"</b>\n"; r.body != want {
		t.Errorf("file = %q, want %q", r.body, want)
	}
	for _, path := range []string{"/files/a", "/files/none", "/files/", "/files/%2e%2e/config/main.tf", "/files/..%2fconfig/main.tf"} {
		if r := get(t, world, path); r.status == http.StatusOK {
			t.Errorf("GET %s = 200 %q, want a refusal", path, r.body)
		}
	}
}
