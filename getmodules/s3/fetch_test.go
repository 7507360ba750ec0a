package s3_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/s3"
)

// TestMain keeps the SDK, which has the environment of the process, from what is
// on this machine: it finds no configuration and no instance, but credentials.
func TestMain(m *testing.M) {
	none := filepath.Join(os.TempDir(), "cotter-s3-does-not-exist")
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE":             none,
		"AWS_SHARED_CREDENTIALS_FILE": none,
		"AWS_EC2_METADATA_DISABLED":   "true",
		"AWS_CA_BUNDLE":               "",
		"AWS_PROFILE":                 "",
		"AWS_SESSION_TOKEN":           "",
		"AWS_ACCESS_KEY_ID":           "AKIDENVIRONMENT",
		"AWS_SECRET_ACCESS_KEY":       "environment",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// fetch fetches a package in a directory of its own, where nothing else may be
// left, and returns its files.
func fetch(t *testing.T, f *getmodules.Fetcher, address string) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	if f.Getters == nil {
		f.Getters = map[string]getmodules.Getter{"s3": new(s3.Getter)}
	}
	outside := t.TempDir()
	dir := filepath.Join(outside, "package")
	pkg, err := f.Fetch(t.Context(), getmodules.Request{Package: addrs.ModulePackage(address), Dir: dir})
	left, readErr := os.ReadDir(outside)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if err != nil {
		if len(left) != 0 {
			t.Errorf("after an error there is %v", left)
		}
		return nil, nil, err
	}
	if len(left) != 1 {
		t.Errorf("beside the package there is more: %v", left)
	}
	return files(t, dir), pkg, nil
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(root, name)
		got[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}
