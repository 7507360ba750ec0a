package addrs_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

// An address with the absolute path of a directory names it, whether it exists or not. One of an archive, or of another
// machine, does not.
func TestLocalDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "my module")
	for address, want := range map[string]string{
		fileURL(dir):                           dir,
		fileURL(dir) + "/":                     dir,
		fileURL(filepath.Dir(dir)) + "/./x/..": filepath.Dir(dir),
		"file::" + fileURL(dir):                dir,
		fileURL(dir) + "?archive=false":        dir,
		fileURL(dir + "/missing"):              filepath.Join(dir, "missing"),
		fileURL(dir) + ".zip":                  "",
		fileURL(dir) + "?archive=zip":          "",
		fileURL(dir) + ".xz":                   "",
		fileURL(dir) + "?checksum=00":          "",
		"file://host" + filepath.ToSlash(dir):  "",
		"file:relative":                        "",
		"git::" + fileURL(dir):                 "",
		"https://example.com/net":              "",
	} {
		if got := addrs.ParseModulePackage(address).LocalDirectory(); got != want {
			t.Errorf("%s: directory %q, want %q", address, got, want)
		}
	}
}

func fileURL(path string) string {
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path // Windows
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
