package s3_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/internal/testenv"
)

// serveS3 returns the address of a bucket whose server has one answer to all requests.
func serveS3(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return "s3::" + server.URL + "/b/"
}

func answer(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// endless writes until the client is gone.
func endless(w http.ResponseWriter, text string) {
	for chunk := strings.Repeat(text, 1+4096/len(text)); ; {
		if _, err := fmt.Fprint(w, chunk); err != nil {
			return
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	other := newLogins(t)
	redirect := func(to string, status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Amz-Bucket-Region", "eu-west-1")
			http.Redirect(w, r, to, status)
		}
	}
	tests := map[string]struct {
		key    string // "" means net.zip
		answer http.HandlerFunc
		want   error
		says   string
	}{
		"endless": {answer: func(w http.ResponseWriter, _ *http.Request) { endless(w, "x") }, want: getmodules.ErrTooLarge},
		"short": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "PK\x03\x04")
		}},
		"web page": {answer: answer("<html>"), want: getmodules.ErrNotArchive},
		"refused": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "<Error><Code>AccessDenied</Code><Message>no\x1b[31m</Message></Error>")
		}},
		"endless error": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			endless(w, "<Error>")
		}},
		"endless list": {key: "net", answer: func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "<ListBucketResult>")
			endless(w, "<Contents><Key>net/"+strings.Repeat("a", 1000)+"</Key></Contents>")
		}},
		"hostile list": {key: "net", answer: answer("<ListBucketResult><Contents><Key>net/../../x</Key></Contents></ListBucketResult>"), says: "net/../../x"},
		"another region": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Amz-Bucket-Region", "eu-west-1")
			w.WriteHeader(http.StatusMovedPermanently)
			fmt.Fprint(w, "<Error><Code>PermanentRedirect</Code><Message>elsewhere</Message></Error>")
		}, says: `the region "eu-west-1"`},
		"redirect to a file": {answer: redirect("file:///etc/passwd", http.StatusFound)},
		"moved":              {answer: redirect(other.URL+"/b/net.zip", http.StatusMovedPermanently)},
		"found":              {answer: redirect(other.URL+"/b/net.zip", http.StatusFound)},
		"temporary redirect": {answer: redirect(other.URL+"/b/net.zip", http.StatusTemporaryRedirect)},
		"permanent redirect": {answer: redirect(other.URL+"/b/net.zip", http.StatusPermanentRedirect)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &getmodules.Fetcher{Limits: getmodules.Limits{DownloadBytes: 1 << 20}}
			const login = "?aws_access_key_id=AKID22&aws_access_key_secret=hunter22&aws_access_token=session22"
			_, _, err := fetch(t, f, serveS3(t, test.answer)+cmp.Or(test.key, "net.zip")+login)
			if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("error is %v, want %v with %q", err, test.want, test.says)
			}
			for _, value := range []string{"hunter22", "AKID22", "session22", "\x1b"} {
				if strings.Contains(err.Error(), value) {
					t.Errorf("%q is in %q", value, err)
				}
			}
			if len(other.seen) != 0 {
				t.Errorf("another server was asked by %q", other.seen)
			}
		})
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	address := serveS3(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	f := &getmodules.Fetcher{Getters: getters(&s3.Getter{Endpoints: endpointsOf(address)})}
	_, err := f.Fetch(ctx, getmodules.Request{Package: addrs.ParseModulePackage(address + "net.zip"), Dir: filepath.Join(t.TempDir(), "package")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

func zipOf(t *testing.T, text string) []byte {
	t.Helper()
	return testenv.Zip(t, map[string]string{"main.tf": text})
}

// TestMain keeps the machine's configuration away from the SDK, which reads the
// environment of the process. The SDK finds test credentials, but no configuration files
// and no instance metadata.
func TestMain(m *testing.M) {
	none := filepath.Join(os.TempDir(), "cotter-s3-does-not-exist")
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE":             none,
		"AWS_SHARED_CREDENTIALS_FILE": none,
		"AWS_EC2_METADATA_DISABLED":   "true",
		"AWS_CA_BUNDLE":               "",
		"AWS_PROFILE":                 "",
		"AWS_SESSION_TOKEN":           "",
		"AWS_ENDPOINT_URL":            "",
		"AWS_ENDPOINT_URL_S3":         "",
		"AWS_ACCESS_KEY_ID":           "AKIDENVIRONMENT",
		"AWS_SECRET_ACCESS_KEY":       "environment",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// fetch fetches a package into a new directory and returns its files. It also checks that
// nothing else is left there. A Fetcher without Getters gets one for a user who has named the
// server of the address.
func fetch(t *testing.T, f *getmodules.Fetcher, address string) (map[string]string, *getmodules.Package, error) {
	t.Helper()
	if f.Getters == nil {
		f.Getters = getters(&s3.Getter{Endpoints: endpointsOf(address)})
	}
	return testenv.Fetch(t, t.TempDir(), func(dir string) (*getmodules.Package, error) {
		return f.Fetch(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage(address), Dir: dir})
	})
}

func getters(g *s3.Getter) map[string]getmodules.Getter { return map[string]getmodules.Getter{"s3": g} }

// endpointsOf returns the server of an address, for the user's own list; nil if it is Amazon.
func endpointsOf(address string) []string {
	at, err := addrs.ParseModulePackage(address).Location()
	if err != nil || at.Bucket().Endpoint == "" {
		return nil
	}
	return []string{at.Bucket().Endpoint}
}
