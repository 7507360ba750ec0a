package gcs

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/cotterpin/cotter/internal/httpx"
)

// scope is the only scope that is requested: read access.
const scope = "https://www.googleapis.com/auth/devstorage.read_only"

// credentials are the credentials to send with requests.
type credentials struct {
	// token is nil for anonymous requests.
	token *oauth2.Token
	// project is the quota project of the token. It may be empty.
	project string
	// absent says why there is no token. It becomes part of the error if a request is refused.
	absent error
}

// spare is the remaining lifetime below which a token is not used for new requests.
const spare = time.Minute

// isGood reports whether the credentials can be used for another request.
func (c *credentials) isGood() bool {
	return c != nil && (c.token == nil || c.token.Expiry.IsZero() || time.Until(c.token.Expiry) > spare)
}

// credentials returns the credentials in the fields of the Getter, or else the application
// default credentials. Tokens are requested with the same client as everything else.
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

// find looks for the application default credentials. If there are none, requests are
// anonymous, which is enough for public buckets.
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

// quotaProject returns the quota project in a credentials file. It returns "" if the file has
// none or cannot be parsed.
func quotaProject(file []byte) string {
	var named struct {
		Project string `json:"quota_project_id"`
	}
	if err := json.Unmarshal(file, &named); err != nil {
		return ""
	}
	return named.Project
}

// inTime runs a call, and returns early when ctx is done. The call ignores ctx: the search for
// credentials queries the instance's metadata service for some seconds.
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
