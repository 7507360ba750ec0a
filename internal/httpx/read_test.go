package httpx_test

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/httpx/webtest"
)

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
		answer, err := c.Read(get(t, "https://example.com/"), 100)
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
	answer, err := c.Read(get(t, "https://example.com/"), 100)
	if err != nil {
		t.Fatal(err)
	}
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
	_, err := c.Read(req, 100)
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
		_, err := c.Read(get(t, "https://"+webtest.Canary+"@example.com/?token="+webtest.Canary), 100)
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
		if _, err := c.Read(get(t, "https://example.com/"), 100); err != nil {
			t.Fatal(err)
		}
		if got := web.Requests()[0].UserAgent(); got != want {
			t.Errorf("UserAgent %q sends %q, want %q", given, got, want)
		}
	}
}
