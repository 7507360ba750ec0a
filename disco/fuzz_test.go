package disco_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/internal/httpx/webtest"
)

// documents answers every request with one document.
type documents string

func (d documents) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(strings.NewReader(string(d))),
		ContentLength: int64(len(d)),
	}, nil
}

func FuzzDocument(f *testing.F) {
	for _, seed := range []string{
		`{"modules.v1": "/v1/modules/"}`, `{"modules.v1": "https://h:1/a?b#c"}`, `{"modules.v1": "http://127.0.0.1"}`,
		`{"modules.v2": "/"}`, `{"modules.v1": {}}`, `{"a":1,"a":2}`, `[]`, `null`, ``, `{`, `{"modules.v1": "//[::1%25x]/"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := &disco.Client{HTTPClient: &http.Client{Transport: documents(text)}}
		u, err := c.ServiceURL(t.Context(), host, "modules.v1")
		if err != nil {
			if _, ok := errors.AsType[*disco.DiscoveryError](err); !ok {
				t.Errorf("ServiceURL = %v, want *DiscoveryError", err)
			}
			webtest.CheckText(t, err.Error())
			return
		}
		if u.Scheme != "https" || u.Host == "" || u.User != nil || !strings.HasSuffix(u.Path, "/") {
			t.Errorf("ServiceURL = %q", u)
		}
	})
}
