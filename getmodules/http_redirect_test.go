package getmodules_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/cotterpin/cotter/getmodules"
)

func TestRedirectLimit(t *testing.T) {
	t.Parallel()
	routes := map[string]http.HandlerFunc{"/0.zip": serve(sampleZip())}
	for i := range 6 {
		routes[fmt.Sprintf("/%d.zip", i+1)] = redirectTo(302, fmt.Sprintf("/%d.zip", i))
	}
	site := newSite(t, routes)
	if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/5.zip"); err != nil {
		t.Errorf("5 redirects: %v", err)
	}
	if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/6.zip"); !errors.Is(err, getmodules.ErrRefusedLocation) {
		t.Errorf("6 redirects: error is %v, want ErrRefusedLocation", err)
	}
}

// TestUntrustedTLS checks that an untrusted certificate is an error that is not retried.
func TestUntrustedTLS(t *testing.T) {
	t.Parallel()
	secure := httptest.NewUnstartedServer(serve(sampleZip()))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	retried := false
	f := newHTTPFetcher()
	f.Backoff = func(int) time.Duration { retried = true; return 0 }
	if _, _, err := fetchURL(t, f, secure.URL+"/a.zip"); err == nil || retried {
		t.Errorf("error is %v, retried: %v", err, retried)
	}
}
