package s3_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/internal/testenv"
)

// serveS3 serves a bucket with these keys, including keys that a real server would not
// accept. Requests for objects are answered by content.
func serveS3(t *testing.T, content http.HandlerFunc, keys ...string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("list-type") == "" {
			content(w, r)
			return
		}
		fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>b</Name><IsTruncated>false</IsTruncated>`)
		for _, key := range keys {
			fmt.Fprintf(w, `<Contents><Key>%s</Key><Size>1</Size></Contents>`, html.EscapeString(key))
		}
		fmt.Fprint(w, `</ListBucketResult>`)
	}))
	t.Cleanup(server.Close)
	return "s3::" + server.URL + "/b/"
}

func answer(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// TestHostileKeys checks that keys are refused if they would be written outside the
// package or over other files.
func TestHostileKeys(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"net/../../x", "net/../x", "../../../../tmp/x", "/etc/x", "net/a/../../../x", "elsewhere/x", "net/.git/config", "net/a\tb", "net/" + strings.Repeat("x", 300),
		"net/a\\b", "net/\u202ex",
	} {
		if got, _, err := fetch(t, new(getmodules.Fetcher), serveS3(t, answer("x"), "net/main.tf", key)+"net"); err == nil {
			t.Errorf("with the key %q: %v", key, got)
		}
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		content http.HandlerFunc
		want    error
	}{
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := fmt.Fprint(w, strings.Repeat("x", 4096)); err != nil {
					return
				}
			}
		}, getmodules.ErrTooLarge},
		"short": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "PK\x03\x04")
		}, nil},
		"web page": {answer("<html>"), getmodules.ErrNotArchive},
		"refused": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "<Error><Code>AccessDenied</Code><Message>no\x1b[31m</Message></Error>")
		}, nil},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &getmodules.Fetcher{Limits: getmodules.Limits{DownloadBytes: 1 << 20}}
			_, _, err := fetch(t, f, serveS3(t, test.content)+"net.zip?aws_access_key_id=AKID22&aws_access_key_secret=hunter22")
			if err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Fatalf("error is %v, want %v", err, test.want)
			}
			for _, value := range []string{"hunter22", "AKID22", "\x1b"} {
				if strings.Contains(err.Error(), value) {
					t.Errorf("%q is in %q", value, err)
				}
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

// TestRedirect checks that redirects to another server are not followed.
func TestRedirect(t *testing.T) {
	t.Parallel()
	other := newLogins(t)
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		address := serveS3(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Amz-Bucket-Region", "eu-west-1")
			http.Redirect(w, r, other.URL+"/b/net.zip", status)
		})
		_, _, err := fetch(t, new(getmodules.Fetcher), address+"net.zip?aws_access_key_id=AKID22&aws_access_key_secret=hunter22&aws_access_token=session22")
		if err == nil || len(other.seen) != 0 {
			t.Errorf("%d: error is %v; another server was asked by %q", status, err, other.seen)
		}
	}
}

// TestRegion checks that an error names the region of the bucket, if the server does.
func TestRegion(t *testing.T) {
	t.Parallel()
	address := serveS3(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amz-Bucket-Region", "eu-west-1")
		w.WriteHeader(http.StatusMovedPermanently)
		fmt.Fprint(w, "<Error><Code>PermanentRedirect</Code><Message>elsewhere</Message></Error>")
	})
	_, _, err := fetch(t, new(getmodules.Fetcher), address+"net.zip")
	if err == nil || !strings.Contains(err.Error(), `the region "eu-west-1"`) {
		t.Errorf("error is %v, want one that names the region", err)
	}
}

// TestLongAnswer checks that endless listings and endless error bodies are refused.
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	endless := func(w http.ResponseWriter) {
		for chunk := strings.Repeat("<Contents><Key>net/"+strings.Repeat("a", 1000)+"</Key></Contents>", 100); ; {
			if _, err := fmt.Fprint(w, chunk); err != nil {
				return
			}
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("list-type") {
			fmt.Fprint(w, "<ListBucketResult>")
		} else {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "<Error>")
		}
		endless(w)
	}))
	t.Cleanup(server.Close)
	for _, key := range []string{"net", "net.zip"} {
		if _, _, err := fetch(t, new(getmodules.Fetcher), "s3::"+server.URL+"/b/"+key); err == nil {
			t.Errorf("%s: there is no error", key)
		}
	}
}

func zipOf(t *testing.T, text string) []byte {
	t.Helper()
	return testenv.Zip(t, map[string]string{"main.tf": text})
}
