package disco_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/internal/httpx/webtest"
)

// TestZeroValues checks that methods of zero values do not panic.
func TestZeroValues(t *testing.T) {
	t.Parallel()
	for _, err := range []error{&disco.DiscoveryError{}, &disco.CredentialsError{}} {
		_, _ = err.Error(), errors.Unwrap(err)
	}
	c := &disco.Client{HTTPClient: webtest.New(t).Client()}
	if _, err := c.ServiceURL(t.Context(), "", ""); err == nil {
		t.Error("ServiceURL of no host succeeded")
	}
	req := &http.Request{URL: request(t, origin).URL, Header: http.Header{}}
	if err := c.Authorize(t.Context(), "", req); err != nil || c.Refused(t.Context(), "", req) {
		t.Errorf("Authorize = %v, or Refused = true", err)
	}
	_ = c.Fresh()
}
