// Package detecttest_test compares the addresses of package addrs with those of go-getter. It is
// a separate module, so that programs that embed Cotter do not get the dependencies of
// go-getter.
package detecttest_test

import (
	"bufio"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/go-getter"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
)

// detectSources are addresses in addition to those in testdata/sources.
var detectSources = []string{
	"github.com/a/b", "github.com/a/b.git", "github.com/a/b/", "github.com/a/b//x", "github.com/a/b/c/d", "github.com/a/b/c//d",
	"github.com/a/b?ref=v1", "github.com/a/b//x?ref=feature/y", "github.com/a", "github.com/", "GitHub.com/a/b", "www.github.com/a/b",
	"git@github.com:a/b.git", "git@github.com:a/b", "git@example.com:a/b.git//x?ref=v1", "git@example.com:/abs/b.git", "user@example.com:a/b",
	"git::git@example.com:a/b.git", "git::github.com/a/b", "git::https://example.com/a.git//x?ref=v1", "git::ssh://git@example.com/a.git",
	"https://example.com/a.zip", "https://example.com/a.zip//x/y?archive=zip", "HTTPS://Example.com/a", "https://user:pw@example.com/a",
	"hg::https://example.com/a", "s3::https://s3.amazonaws.com/b/k.zip", "bucket.s3.amazonaws.com/k.zip", "s3.amazonaws.com/bucket/k.zip",
	"s3-eu-west-1.amazonaws.com/bucket/k.zip", "bucket.s3-eu-west-1.amazonaws.com/k.zip", "bucket.s3.eu-west-1.amazonaws.com/k/z.zip",
	"www.googleapis.com/storage/v1/bucket/k.zip", "gcs::https://www.googleapis.com/storage/v1/bucket/k.zip", "www.googleapis.com/storage/v1",
	"/abs/path", "/abs/path//sub", "file:///abs/path", "git::/abs/path", "oci://example.com/a?tag=1", "gitlab.com:a/b.git", "gitlab.com/a/b",
	"relative", "a/b", "", "example.com", "::", "x::y", "git::", "C:\\x",
}

// TestDetectors compares the addresses that addrs makes of shorthands with those of go-getter,
// which the stock tools use.
func TestDetectors(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, raw := range append(sourcesInFiles(t), detectSources...) {
		source, err := addrs.ParseModuleSource(raw)
		// go-getter queries Bitbucket to detect its addresses, so they are skipped.
		if strings.Contains(raw, "bitbucket.org/") {
			continue
		}
		want, wantErr := detectByGoGetter(raw)
		remote, ok := source.(addrs.ModuleSourceRemote)
		switch {
		case err == nil && !ok: // local and registry addresses take precedence
		case err != nil && wantErr == nil && !escapesPackage(want.Subdir) && hasLocation(want.Package):
			t.Errorf("ParseModuleSource(%q): %v, but go-getter detects %q", raw, err, want)
		case ok && wantErr != nil:
			t.Errorf("ParseModuleSource(%q) = %q, but go-getter says %v", raw, remote, wantErr)
		case ok && remote != want:
			t.Errorf("ParseModuleSource(%q) = %q, but go-getter detects %q", raw, remote, want)
		}
		compared++
	}
	t.Logf("compared %d addresses", compared)
}

// escapesPackage reports whether addrs refuses a subdirectory because it is outside of the
// package. The stock tools may accept it.
func escapesPackage(subdir string) bool {
	return subdir == ".." || strings.HasPrefix(subdir, "../") || strings.HasPrefix(subdir, "/")
}

// hasLocation reports whether addrs can tell which place an address names. The stock tools send what
// is written, whatever a server reads in it.
func hasLocation(pkg addrs.ModulePackage) bool {
	_, err := pkg.Location()
	return err == nil
}

// detectByGoGetter calls go-getter like OpenTofu: with OpenTofu's list of detectors, and only
// for the package's part of the address.
func detectByGoGetter(raw string) (addrs.ModuleSourceRemote, error) {
	pkg, subdir := getter.SourceDirSubdir(raw)
	if subdir != "" {
		subdir = path.Clean(subdir)
	}
	if strings.HasPrefix(subdir, "../") {
		return addrs.ModuleSourceRemote{}, errors.New("outside of the package")
	}
	detected, err := getter.Detect(pkg, "", []getter.Detector{
		withoutQuery{new(getter.GitHubDetector)}, new(getter.GitDetector),
		new(getter.GCSDetector), new(getter.S3Detector), new(getter.FileDetector),
	})
	if err != nil {
		return addrs.ModuleSourceRemote{}, err
	}
	pkg, own := getter.SourceDirSubdir(detected)
	if own != "" {
		subdir = path.Join(path.Clean(own), subdir)
	}
	return addrs.ModuleSourceRemote{Package: addrs.ParseModulePackage(pkg), Subdir: subdir}, nil
}

// withoutQuery removes the query string before it calls a detector. OpenTofu does this for
// GitHub, because refs may contain slashes.
type withoutQuery struct{ getter.Detector }

func (d withoutQuery) Detect(src, pwd string) (string, bool, error) {
	plain, query, _ := strings.Cut(src, "?")
	detected, found, err := d.Detector.Detect(plain, pwd)
	if found && query != "" {
		detected += "?" + query
	}
	return detected, found, err
}

// sourcesInFiles returns the first columns of the files in testdata/sources.
func sourcesInFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../testdata/sources/*.txt")
	if err != nil || len(files) == 0 {
		t.Errorf("there are no testdata/sources/*.txt: %v", err)
	}
	var sources []string
	for _, name := range files {
		file, err := os.Open(name)
		testenv.Must(t, err)
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if raw, _, found := strings.Cut(lines.Text(), "\t"); found && !strings.HasPrefix(raw, "#") {
				sources = append(sources, raw)
			}
		}
	}
	return sources
}
