package gogetter_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gogetter"
)

// cloud is what the SDKs find in their environment in place of Google's.
var cloud = newGCS()

// TestMain sets the environment of the SDKs, which only the process has: Google's
// talks to cloud, and that of AWS finds no configuration and no instance.
func TestMain(m *testing.M) {
	none := filepath.Join(os.TempDir(), "cotter-gogetter-does-not-exist")
	for name, value := range map[string]string{
		"STORAGE_EMULATOR_HOST":            cloud.URL,
		"AWS_CONFIG_FILE":                  none,
		"AWS_SHARED_CREDENTIALS_FILE":      none,
		"AWS_EC2_METADATA_DISABLED":        "true",
		"AWS_RESPONSE_CHECKSUM_VALIDATION": "when_required",
		"AWS_ACCESS_KEY_ID":                "AKIDENVIRONMENT",
		"AWS_SECRET_ACCESS_KEY":            "environment",
		"GOOGLE_APPLICATION_CREDENTIALS":   "",
		"CLOUDSDK_CONFIG":                  none,
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// gcs is as much of Google Cloud Storage as is used: lists by JSON, objects by
// XML, with generations.
type gcs struct {
	*httptest.Server
	mu      sync.Mutex
	objects map[string]string // by BUCKET/NAME, and BUCKET/NAME#GENERATION
}

func newGCS() *gcs {
	s := &gcs{objects: map[string]string{}}
	s.Server = httptest.NewServer(s)
	return s
}

func (s *gcs) put(name, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[name] = content
}

func (s *gcs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rest, isList := strings.CutPrefix(r.URL.Path, "/storage/v1/b/"); isList {
		bucket, _, _ := strings.Cut(rest, "/")
		s.list(w, bucket, r.URL.Query().Get("prefix"))
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if generation := r.URL.Query().Get("generation"); generation != "" {
		name += "#" + generation
	}
	content, ok := s.objects[name]
	switch {
	case strings.HasPrefix(name, "busy/"):
		w.WriteHeader(http.StatusServiceUnavailable)
	case !ok:
		http.Error(w, "there is none", http.StatusNotFound)
	default:
		fmt.Fprint(w, content)
	}
}

func (s *gcs) list(w http.ResponseWriter, bucket, prefix string) {
	type item struct {
		Name   string `json:"name"`
		Bucket string `json:"bucket"`
	}
	items := []item{}
	for name := range s.objects {
		if object, ok := strings.CutPrefix(name, bucket+"/"); ok && strings.HasPrefix(object, prefix) {
			items = append(items, item{object, bucket})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "storage#objects", "items": items}) // a client that is gone
}

// fetch fetches a package in a directory of its own, where nothing else may be
// left, and returns its files.
func fetch(t *testing.T, f *getmodules.Fetcher, address string) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	f.Getters = gogetter.Getters()
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
