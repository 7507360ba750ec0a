package registry

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/opentofu/svchost"
	"github.com/opentofu/svchost/disco"

	cotter "github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/registryclient"
)

// Cotter returns a client for a run of Cotter's installer. It remembers answers.
func (c *Client) Cotter() *registryclient.Client {
	return &registryclient.Client{
		Services:   services{c.services},
		HTTPClient: c.client.HTTPClient,
		Attempts:   c.client.RetryMax + 1,
		RetryWait:  c.client.RetryWaitMin,
	}
}

// services finds services and credentials as OpenTofu does.
type services struct{ disco *disco.Disco }

func (s services) ServiceURL(ctx context.Context, host cotter.Hostname, id string) (*url.URL, error) {
	found, err := s.disco.DiscoverServiceURL(ctx, svchost.Hostname(host), id)
	if err != nil {
		return nil, &ServiceUnreachableError{err}
	}
	at := *found
	if !strings.HasSuffix(at.Path, "/") {
		at.Path += "/"
	}
	return &at, nil
}

func (s services) Authorize(ctx context.Context, host cotter.Hostname, req *http.Request) error {
	credentials, err := s.disco.CredentialsForHost(ctx, svchost.Hostname(host))
	if err == nil && credentials != nil {
		credentials.PrepareRequest(req)
	}
	return err
}

func (services) Refused(context.Context, cotter.Hostname, *http.Request) bool { return false }
