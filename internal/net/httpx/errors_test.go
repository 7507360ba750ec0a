package httpx_test

import (
	"compress/gzip"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestMessages has failures with their messages. None contains the arguments of a URL.
func TestMessages(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	to := func(location string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusFound)
		}
	}
	routes := map[string]http.HandlerFunc{
		"/plain":   to("http://example.com/x?token=" + webtest.Canary),
		"/file":    to("file:///etc/passwd"),
		"/invalid": to("https://u:" + webtest.Canary + "@h h/" + webtest.Canary),
		"/missing": to(""),
		"/local":   to("https://127.0.0.1/x"),
		"/loop":    to("/loop?token=" + webtest.Canary),
		"/gone":    to("https://nowhere.example/x?token=" + webtest.Canary),
		"/far":     to("/404?token=" + webtest.Canary),
		"/busy": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "90")
			w.WriteHeader(http.StatusTooManyRequests)
		},
		"/500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"/ok":  hello,
	}
	web.Serve("https://example.com", func(w http.ResponseWriter, r *http.Request) {
		if route := routes[r.URL.Path]; route != nil {
			route(w, r)
			return
		}
		http.NotFound(w, r)
	})
	c := httpx.Client{HTTP: web.Client(), MaxRedirects: 2, Refuse: httpx.InsecureRedirect, Retry: httpx.Retry{FirstWait: time.Nanosecond}}
	for path, want := range map[string]string{
		"/plain":   `the server redirects to "http://example.com/x?token=REDACTED": redirects from https to http are not followed`,
		"/file":    `the server redirects to "file:///etc/passwd": only http and https URLs with a host are followed`,
		"/invalid": `the server redirects: the header Location is not a valid URL`,
		"/missing": `the server redirects: the header Location is not a valid URL`,
		"/local":   `the server redirects to "https://127.0.0.1/x": its host is this machine`,
		"/loop":    `"https://example.com/loop?token=REDACTED" redirects to "https://example.com/loop?token=REDACTED": that is more than 2 redirects in a row`,
		"/gone":    `nowhere.example cannot be reached: connection refused (4 attempts); a redirect points there`,
		"/far":     `example.com answered 404 Not Found for /404; a redirect points there`,
		"/busy":    `example.com answered 429 Too Many Requests for /busy; it asks to wait 1m30s before the next request`,
		"/500":     `example.com answered 500 Internal Server Error for /500 (4 attempts)`,
		"/ok":      `the answer is larger than the limit of 4 bytes`,
	} {
		err := c.Do(get(t, "https://example.com"+path), func(answer *httpx.Response) error {
			_, err := answer.ReadAll(4)
			return err
		})
		if err == nil || err.Error() != want {
			t.Errorf("%s: error is\n%v, want\n%s", path, err, want)
		}
	}
}

func TestMessagesAboutCertificates(t *testing.T) {
	t.Parallel()
	for want, reason := range map[string]error{
		"example.com's certificate is not trusted: it is signed by an unknown authority": x509.UnknownAuthorityError{},
		"example.com's certificate is not trusted: it is valid for a.example, not b.example": x509.HostnameError{
			Certificate: &x509.Certificate{DNSNames: []string{"a.example"}}, Host: "b.example",
		},
		"example.com's certificate is not trusted: bad": errors.New("x509: bad"),
	} {
		transport := roundTrip(func(*http.Request) (*http.Response, error) {
			return nil, &tls.CertificateVerificationError{Err: reason}
		})
		c := httpx.Client{HTTP: &http.Client{Transport: transport}}
		_, err := read(&c, get(t, "https://example.com/"), 100)
		network, ok := errors.AsType[*httpx.NetworkError](err)
		if !ok || err.Error() != want || !network.IsUntrusted() || !errors.Is(err, reason) && reason.Error() == "x509: bad" {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		size             int
		chunked, gzipped bool
		fits             bool
	}{
		{100, false, false, true},
		{100, true, false, true},
		{101, false, false, false},
		{101, true, false, false},
		{100, false, true, true},
		{101, false, true, false},
		{1 << 20, false, true, false},
	}
	for _, test := range tests {
		web := webtest.New(t)
		web.Serve("https://example.com", func(w http.ResponseWriter, _ *http.Request) {
			if test.chunked {
				_ = http.NewResponseController(w).Flush()
			}
			var to io.Writer = w
			if test.gzipped {
				w.Header().Set("Content-Encoding", "gzip")
				packed := gzip.NewWriter(w)
				defer packed.Close()
				to = packed
			}
			_, _ = io.WriteString(to, strings.Repeat("x", test.size))
		})
		c := httpx.Client{HTTP: web.Client()}
		answer, err := read(&c, get(t, "https://example.com/"), 100)
		if !test.fits {
			if large, ok := errors.AsType[*httpx.TooLargeError](err); !ok || large.Limit != 100 {
				t.Errorf("%+v: Read = %v, want *TooLargeError{100}", test, err)
			}
			continue
		}
		if err != nil || len(answer.Body) != test.size {
			t.Errorf("%+v: Read = %v, %v", test, answer, err)
		}
	}
}

func TestExcerptOfOtherAnswers(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	web.Serve("https://example.com", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, strings.Repeat("x", 10_000))
	})
	c := httpx.Client{HTTP: web.Client()}
	answer, err := read(&c, get(t, "https://example.com/"), 100)
	testenv.Must(t, err)
	if answer.StatusCode != http.StatusTeapot || len(answer.Body) != 512 {
		t.Errorf("Read = %d with %d bytes, want 418 with 512", answer.StatusCode, len(answer.Body))
	}
}

func TestHeadersThatCannotBeSent(t *testing.T) {
	t.Parallel()
	web := webtest.New(t)
	req := get(t, "https://example.com/")
	req.Header.Set("Authorization", "Bearer "+webtest.Canary+"\n")
	c := httpx.Client{HTTP: web.Client()}
	_, err := read(&c, req, 100)
	if _, ok := errors.AsType[*httpx.HeaderError](err); !ok {
		t.Fatalf("Read = %v, want *HeaderError", err)
	}
	webtest.CheckText(t, err.Error())
}

func TestErrorsHoldNoSecretsAndNoControls(t *testing.T) {
	t.Parallel()
	transports := map[string]http.RoundTripper{
		"raw header": &script{steps: []step{{err: errors.New("malformed header \x1b[2J\r\nforged \u202e line")}}},
		"refused":    webtest.New(t).Client().Transport,
	}
	for name, transport := range transports {
		c := httpx.Client{HTTP: &http.Client{Transport: transport}, Retry: httpx.Retry{Attempts: 1}}
		_, err := read(&c, get(t, "https://"+webtest.Canary+"@example.com/?token="+webtest.Canary), 100)
		if _, ok := errors.AsType[*httpx.NetworkError](err); !ok {
			t.Fatalf("%s: Read = %v, want *NetworkError", name, err)
		}
		webtest.CheckText(t, err.Error())
		if strings.ContainsRune(err.Error(), '\u202e') {
			t.Errorf("%s: %q has a character that turns the direction", name, err)
		}
	}
}

func TestUserAgent(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"": "cotter", "cotter/1.2.3": "cotter/1.2.3"} {
		web := webtest.New(t)
		web.Serve("https://example.com", hello)
		c := httpx.Client{HTTP: web.Client(), UserAgent: given}
		if _, err := read(&c, get(t, "https://example.com/"), 100); err != nil {
			t.Fatal(err)
		}
		if got := web.Requests()[0].UserAgent(); got != want {
			t.Errorf("UserAgent %q sends %q, want %q", given, got, want)
		}
	}
}

func TestDownloadToAFile(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "archive"))
	testenv.Must(t, err)
	defer file.Close()
	for _, text := range []string{"a long text", "short", ""} {
		testenv.Must(t, (&httpx.Download{File: file}).Copy(strings.NewReader(text), -1))
		if got, err := os.ReadFile(file.Name()); err != nil || string(got) != text {
			t.Errorf("the file has %q, %v; want %q", got, err, text)
		}
	}
}

// Emptying a file that cannot be changed is an error, unless it is already empty.
func TestDownloadToAReadOnlyFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "archive")
	testenv.Must(t, os.WriteFile(name, []byte("text"), 0o600))
	file, err := os.Open(name)
	testenv.Must(t, err)
	defer file.Close()
	if err := (&httpx.Download{File: file}).Copy(strings.NewReader(""), -1); err == nil {
		t.Error("a file that is open for reading was emptied")
	}
}

func TestDownloadLimit(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content  string
		size     int64
		tooLarge bool
	}{
		"smaller":               {content: "abc", size: 3},
		"at the limit":          {content: "abcd", size: 4},
		"larger":                {content: "abcde", size: 5, tooLarge: true},
		"smaller, not known":    {content: "abc", size: -1},
		"at the limit, unknown": {content: "abcd", size: -1},
		"larger, unknown":       {content: "abcde", size: -1, tooLarge: true},
		"empty":                 {content: "", size: 0},
	} {
		var written strings.Builder
		var done, total int64
		sum := sha256.New()
		d := httpx.Download{Writer: &written, Limit: 4, Hash: sum, Progress: func(n, of int64) { done, total = n, of }}
		err := d.Copy(strings.NewReader(test.content), test.size)
		large, isLarge := errors.AsType[*httpx.TooLargeError](err)
		if isLarge != test.tooLarge || err != nil && !isLarge {
			t.Errorf("%s: Copy = %v", name, err)
		}
		if isLarge {
			if large.Limit != 4 || large.Size != max(test.size, 0) {
				t.Errorf("%s: the error is %+v", name, large)
			}
			continue
		}
		size := int64(len(test.content))
		if written.String() != test.content || d.Size() != size || done != size || total != size {
			t.Errorf("%s: wrote %q, %d bytes; progress ended at %d of %d", name, &written, d.Size(), done, total)
		}
		if want := sha256.Sum256([]byte(test.content)); [32]byte(sum.Sum(nil)) != want {
			t.Errorf("%s: the hash is %x, want %x", name, sum.Sum(nil), want)
		}
	}
}
