// Package s3test_test tests package s3 and the cotter command against gofakes3. It is a
// separate module, so that the dependencies of gofakes3 do not become dependencies of
// programs that embed Cotter.
package s3test_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/internal/testenv"
)

// These are the credentials in addresses. Only keyID may be visible, in the header that
// signs a request.
const (
	keyID  = "AKIDEXAMPLE22"
	secret = "secret/key+22"
	token  = "session22"
)

// tempDir is a directory for what all tests share. It is removed after them.
var tempDir string

// TestMain keeps the machine's configuration away from the SDK: it must not find
// configuration files and must not ask for instance metadata.
func TestMain(m *testing.M) {
	var err error
	if tempDir, err = os.MkdirTemp("", "cotter-s3test-"); err != nil {
		panic(err)
	}
	none := filepath.Join(tempDir, "does-not-exist")
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE":             none,
		"AWS_SHARED_CREDENTIALS_FILE": none,
		"AWS_EC2_METADATA_DISABLED":   "true",
		"AWS_ENDPOINT_URL":            "",
		"AWS_ENDPOINT_URL_S3":         "",
		"AWS_ACCESS_KEY_ID":           "AKIDENVIRONMENT",
		"AWS_SECRET_ACCESS_KEY":       "environment",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	status := m.Run()
	_ = os.RemoveAll(tempDir)
	os.Exit(status)
}

func getters() map[string]getmodules.Getter {
	return map[string]getmodules.Getter{"s3": new(s3.Getter)}
}

// bucket is the name of each server's bucket.
const bucket = "modules"

// server is an S3 server with one bucket and with versioning.
type server struct {
	*httptest.Server
	backend *s3mem.Backend
	mu      sync.Mutex
	signed  []string // the key ids that signed the requests
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{backend: s3mem.New()}
	testenv.Must(t, s.backend.CreateBucket(bucket))
	testenv.Must(t, s.backend.SetVersioningConfiguration(bucket, gofakes3.VersioningConfiguration{Status: gofakes3.VersioningEnabled}))
	handler := gofakes3.New(s.backend).Server()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
		id, _, _ := strings.Cut(credential, "/")
		s.mu.Lock()
		s.signed = append(s.signed, id)
		s.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// put stores an object and returns its version.
func (s *server) put(t *testing.T, key string, content []byte) string {
	t.Helper()
	result, err := s.backend.PutObject(bucket, key, nil, bytes.NewReader(content), int64(len(content)), nil)
	testenv.Must(t, err)
	return string(result.VersionID)
}

// address returns the address of an object with credentials. more is appended to the
// query.
func (s *server) address(key, more string) string {
	return fmt.Sprintf("s3::%s/%s/%s?aws_access_key_id=%s&aws_access_key_secret=%s&aws_access_token=%s&region=us-east-1%s",
		s.URL, bucket, key, keyID, "secret%2Fkey%2B22", token, more)
}

// resolved returns the resolved form of such an address, without the credentials.
func (s *server) resolved(key, more string) string {
	return fmt.Sprintf("s3::%s/%s/%s?region=us-east-1%s", s.URL, bucket, key, more)
}

// fetch fetches a package into a new directory and returns its files. It also checks that
// nothing else is left there and that an error shows no credentials.
func fetch(t *testing.T, f *getmodules.Fetcher, address string) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	f.Getters = getters()
	got, pkg, err := testenv.Fetch(t, t.TempDir(), func(dir string) (*getmodules.Package, error) {
		return f.Fetch(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage(address), Dir: dir})
	})
	for _, value := range []string{secret, "secret%2Fkey%2B22", token, keyID} {
		if err != nil && strings.Contains(err.Error(), value) {
			t.Errorf("the error shows %q: %v", value, err)
		}
	}
	return got, pkg, err
}
