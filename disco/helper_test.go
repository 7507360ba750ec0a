package disco_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	host       = addrs.Hostname("example.com")
	origin     = "https://example.com"
	wellKnown  = "/.well-known/terraform.json"
	modulesURL = origin + "/v1/modules/"
)

func document(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != wellKnown {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	}
}

func client(web *webtest.Web) *disco.Client {
	return &disco.Client{HTTPClient: web.Client(), RetryWait: 1}
}

type source struct {
	host  addrs.Hostname
	err   error
	asked atomic.Int32
}

func (s *source) ForHost(_ context.Context, h addrs.Hostname) (disco.Credentials, error) {
	s.asked.Add(1)
	if s.err != nil || h != s.host {
		return nil, s.err
	}
	return disco.BearerToken(webtest.Canary), nil
}

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	testenv.Must(t, err)
	return req
}

func serviceMap(id, url string) string { return fmt.Sprintf(`{%q: %q}`, id, url) }
