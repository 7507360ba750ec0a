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
)

// serveS3 serves a bucket with these keys, which no server would let anybody
// store, and content for each.
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

// TestS3HostileKeys lists what would be written outside, or over other files.
func TestS3HostileKeys(t *testing.T) {
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

func TestS3Answers(t *testing.T) {
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

func TestS3Addresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"s3::https://s3.amazonaws.com", "s3::https://s3.amazonaws.com/b.zip", "s3::https://a.b.c.d.amazonaws.com/k.zip", "s3::https://example.com/k.zip",
		"s3::https:///b/k.zip", "s3::file:///b/k.zip", "s3::/b/k.zip", "s3::https://u:p@example.com/b/k.zip", "s3::https://example.com/b/k.zip#1",
		"s3::https://example.com/b/k?version=1",
	} {
		if _, _, err := fetch(t, new(getmodules.Fetcher), address); err == nil {
			t.Errorf("%s is fetched", address)
		}
	}
}

func TestS3Cancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	address := serveS3(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	f := &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"s3": new(s3.Getter)}}
	_, err := f.Fetch(ctx, getmodules.Request{Package: addrs.ModulePackage(address + "net.zip"), Dir: filepath.Join(t.TempDir(), "package")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}
