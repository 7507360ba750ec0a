package gcs

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/cotterpin/cotter/internal/net/httpx"
)

// scope is read access.
const scope = "https://www.googleapis.com/auth/devstorage.read_only"

type credentials struct {
	// token is nil for anonymous requests.
	token *oauth2.Token
	// project is the quota project of the token, if any.
	project string
	// absent says why there is no token, for the error if a request is refused.
	absent error
}

// spare is the lifetime below which a token is not used for new requests.
const spare = time.Minute

func (c *credentials) isGood() bool {
	return c != nil && (c.token == nil || c.token.Expiry.IsZero() || time.Until(c.token.Expiry) > spare)
}

// credentials returns those in the fields of the Getter, or else the application default credentials.
func (g *Getter) credentials(ctx context.Context, client *httpx.Client) (*credentials, error) {
	switch {
	case g.Token != "":
		return &credentials{token: &oauth2.Token{AccessToken: g.Token}, project: g.QuotaProject}, nil
	case g.Endpoint != "":
		return new(credentials), nil
	}
	g.mu.Lock()
	known := g.found
	g.mu.Unlock()
	if known.isGood() {
		return known, nil
	}
	// Several downloads may do this concurrently, each with its own context.
	found, err := inTime(ctx, func() (*credentials, error) {
		// The user's own settings lead to the server for tokens, which may be a metadata service.
		ctx := httpx.WithoutPointer(ctx)
		return g.find(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: client}))
	})
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.found = found
	g.mu.Unlock()
	return found, nil
}

// find looks for the application default credentials. Without any, requests are anonymous.
func (g *Getter) find(ctx context.Context) (*credentials, error) {
	found, err := google.FindDefaultCredentials(ctx, scope)
	if err != nil {
		return &credentials{absent: err}, nil
	}
	token, err := found.TokenSource.Token()
	if err != nil {
		return nil, tokenError(err)
	}
	return &credentials{token: token, project: cmp.Or(g.QuotaProject, quotaProject(found.JSON))}, nil
}

// quotaProject returns the quota project in a credentials file, or "".
func quotaProject(file []byte) string {
	var named struct {
		Project string `json:"quota_project_id"`
	}
	if err := json.Unmarshal(file, &named); err != nil {
		return ""
	}
	return named.Project
}

// inTime returns early when ctx is done. The call ignores ctx, and queries the metadata service for some
// seconds.
func inTime(ctx context.Context, call func() (*credentials, error)) (*credentials, error) {
	type result struct {
		found *credentials
		err   error
	}
	done := make(chan result, 1)
	go func() {
		found, err := call()
		done <- result{found, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-done:
		return r.found, r.err
	}
}
