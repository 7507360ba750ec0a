package gcs_test

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gcs"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status int
		text   string
		want   error
		says   string
	}{
		"absent":        {http.StatusNotFound, "No such object: b/net.zip", fs.ErrNotExist, `answered 404 Not Found for /storage/v1/b/b/o/net.zip; it says "No such object: b/net.zip"`},
		"in JSON":       {http.StatusNotFound, `{"error":{"code":404,"message":"The specified bucket does not exist."}}`, fs.ErrNotExist, `it says "The specified bucket does not exist."`},
		"unauthorized":  {http.StatusUnauthorized, "Invalid Credentials", fs.ErrPermission, "it does not accept the credentials that were sent"},
		"forbidden":     {http.StatusForbidden, "x does not have storage.objects.get access", fs.ErrPermission, "it does not accept the credentials that were sent"},
		"echo":          {http.StatusForbidden, "you said Bearer hunter22\x1b[31m", fs.ErrPermission, "you said Bearer REDACTED"},
		"long":          {http.StatusBadRequest, strings.Repeat("x", 10_000), nil, "xxx..."},
		"not modified":  {http.StatusNotModified, "", nil, "304 Not Modified"},
		"empty":         {http.StatusOK, "", getmodules.ErrNotArchive, ""},
		"page":          {http.StatusOK, "<html>", getmodules.ErrNotArchive, ""},
		"partial":       {http.StatusPartialContent, "PK\x03\x04", nil, "206 Partial Content"},
		"too many":      {http.StatusTooManyRequests, "slow down", nil, `answered 429 Too Many Requests for /storage/v1/b/b/o/net.zip; it says "slow down"`},
		"no such thing": {http.StatusNotImplemented, "", nil, "501 Not Implemented"},
	}
	for name, test := range tests {
		c := newCloud(t, nil)
		c.refuse = func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(test.status)
			if test.text != "" {
				fmt.Fprint(w, test.text)
			}
			return true
		}
		getter := c.getter()
		getter.Token = "hunter22"
		_, _, err := fetch(t, getter, gcsAddress+"b/net.zip")
		if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) || len(err.Error()) > 1500 {
			t.Errorf("%s: error is %v, want %v with %q", name, err, test.want, test.says)
			continue
		}
		if strings.Contains(err.Error(), "hunter22") || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: a secret or a control character is in %q", name, err)
		}
	}
}

// Package objects tests hostile names of all kinds.
func TestLists(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON":   "<html>",
		"elsewhere": `{"items":[{"name":"elsewhere/x"}]}`,
		"above":     `{"items":[{"name":"net/../../x"}]}`,
		"long":      `{"items":[{"name":"net/` + strings.Repeat("x", 17<<20) + `"}]}`,
	} {
		c := newCloud(t, map[string]string{"b/elsewhere/x": "x"})
		c.refuse = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/o") {
				return false
			}
			fmt.Fprint(w, text)
			return true
		}
		if got, _, err := fetch(t, c.getter(), gcsAddress+"b/net"); err == nil {
			t.Errorf("%s: the package is %v", name, got)
		}
	}
}

// TestAgain checks that a failed download is repeated from the beginning of the file.
func TestAgain(t *testing.T) {
	t.Parallel()
	archive := zipOf(t, strings.Repeat("x", 10_000))
	sum := func(text string) string {
		return "crc32c=" + base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli))))
	}
	answers := []http.HandlerFunc{
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			fmt.Fprint(w, archive+archive)
		},
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Add("X-Goog-Hash", "md5=x,"+sum(archive))
			fmt.Fprint(w, archive+"damaged")
		},
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Add("X-Goog-Hash", sum(archive))
			fmt.Fprint(w, archive)
		},
	}
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[asked.Add(1)-1](w, r)
	}))
	t.Cleanup(server.Close)
	var waited []int
	c := &cloud{Server: server}
	getter := c.getter()
	getter.Attempts = 5
	getter.Backoff = func(retry int) time.Duration {
		waited = append(waited, retry)
		return 0
	}
	if _, _, err := fetch(t, getter, gcsAddress+"b/net.zip"); err != nil || fmt.Sprint(waited) != "[1 2 3 4]" {
		t.Errorf("waited %v, error is %v", waited, err)
	}
}

// TestDamaged checks that a wrong checksum is an error, except for an object that is
// stored gzipped, for which the checksum is ignored.
func TestDamaged(t *testing.T) {
	t.Parallel()
	archive := zipOf(t, "x")
	for stored, ok := range map[string]bool{"": false, "gzip": true} {
		c := newCloud(t, nil)
		c.refuse = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("X-Goog-Stored-Content-Encoding", stored)
			w.Header().Set("X-Goog-Hash", "crc32c=AAAAAA==")
			fmt.Fprint(w, archive)
			return true
		}
		_, _, err := fetch(t, c.getter(), gcsAddress+"b/net.zip")
		if ok != (err == nil) || !ok && !strings.Contains(err.Error(), "checksum") {
			t.Errorf("stored as %q: error is %v", stored, err)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][3]string{
		"https://www.googleapis.com/storage/v1/b/net.zip":             {"b", "net.zip", ""},
		"https://www.googleapis.com/storage/v1/b/a%20b/n%2Ft.zip#17":  {"b", "a b/n/t.zip", "17"},
		"https://storage.googleapis.com/storage/v1/b/a//b/":           {"b", "a//b/", ""},
		"https://www.googleapis.com/storage/v1/b":                     {"b", "", ""},
		"http://www.googleapis.com/storage/v1/b/?alt=json&generation": {"b", "", ""},
	} {
		at, err := addrs.ParseModulePackage("gcs::" + raw).Location()
		testenv.Must(t, err)
		bucket, object, generation, err := gcs.ParseAddress(at)
		if got := [...]string{bucket, object, generation}; err != nil || got != want {
			t.Errorf("ParseAddress(%q) = %q, %v, want %q", raw, got, err, want)
		}
	}
}

// FuzzAddress checks that no address points outside the bucket part of the API.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{
		"https://www.googleapis.com/storage/v1/b/net.zip#17", "https://www.googleapis.com/storage/v1/../o", "https://www.googleapis.com/storage/v1/%2e/o",
		"https://www.googleapis.com/a/b/c/d/e", "https://x@www.googleapis.com/storage/v1/b", "https://www.googleapis.com:1/storage/v1/b/o",
		"https://www.googleapis.com/storage/v1//o", "gs://b/o", "https://www.googleapis.com/storage/v1/b/..", "https://www.googleapis.com/storage/v1/b#-1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		at, err := addrs.ParseModulePackage("gcs::" + raw).Location()
		if err != nil {
			return
		}
		bucket, object, generation, err := gcs.ParseAddress(at)
		if err != nil {
			return
		}
		if bucket == "" || strings.Contains(bucket, "/") || bucket == "." || bucket == ".." || object == "." || object == ".." {
			t.Errorf("%q becomes %q, %q", raw, bucket, object)
		}
		if strings.Trim(generation, "0123456789") != "" {
			t.Errorf("%q has the generation %q", raw, generation)
		}
	})
}
