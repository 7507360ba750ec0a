package conformance

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// discover returns the URL of a service, or nil, and checks the document that names it.
func (s session) discover(ctx context.Context, host addrs.Hostname, service string) *url.URL {
	document := &url.URL{Scheme: "https", Host: host.String(), Path: "/.well-known/terraform.json"}
	// The document is public: clients send the credentials that they have.
	a := s.documentWith(ctx, "discovery.answer", "discovery.type", "discovery.json", document, maxDiscovery)
	if a == nil {
		return nil
	}
	s.report.expect(a.url.Scheme == "https", "discovery.https", a.request, "it was redirected to %s", addrs.Redact(a.url.String()))
	var services map[string]json.RawMessage
	if err := a.decode(&services); !s.report.expect(err == nil, "discovery.json", a.request, "it is not an object: %v", err) {
		return nil
	}
	text, named := services[service]
	if !s.report.expect(named, "discovery.service", a.request, "the document has no %q", service) {
		return nil
	}
	var location string
	if err := json.Unmarshal(text, &location); !s.report.expect(err == nil, "discovery.url", a.request, "%q is %s, not a text", service, excerpt(string(text))) {
		return nil
	}
	relative, err := url.Parse(location)
	if !s.report.expect(err == nil, "discovery.url", a.request, "%q is not a URL: %v", service, err) {
		return nil
	}
	u := a.url.ResolveReference(relative)
	s.report.expect(u.Scheme == "https" && u.RawQuery == "" && u.Fragment == "" && u.User == nil, "discovery.url", a.request,
		"%q is %s", service, excerpt(addrs.Redact(location)))
	if !s.report.expect(strings.HasSuffix(u.Path, "/"), "discovery.slash", a.request, "%q is %s", service, excerpt(location)) {
		u.Path += "/"
	}
	if u.Scheme != "https" && u.Scheme != "http" {
		return nil
	}
	return u
}

// isStable requests a document a second time.
func (s session) isStable(ctx context.Context, before *answer, u *url.URL) bool {
	a, err := s.ask(ctx, http.MethodGet, u, s.authorization, maxDocument)
	return err == nil && a.status == before.status && string(a.body) == string(before.body)
}
