package getproviders

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/providerzip"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/versions"
)

// NetworkMirror is the Source of a server with the provider network mirror protocol
// (https://opentofu.org/docs/internals/provider-network-mirror-protocol/). The server has these
// documents below its URL, with the host in ASCII:
//
//	HOST/NAMESPACE/TYPE/index.json      the versions
//	HOST/NAMESPACE/TYPE/VERSION.json    the archives of a version, and their hashes
//
// The documents must be application/json; invalid versions and hashes of unknown schemes in them are
// skipped. Everything is requested over https. The token of the mirror's host, and the user name and password in the
// URL, are also sent for archives of the same origin.
//
// An archive must have one of its listed hashes; if all are skipped, it cannot be used, as by stock tools.
// A lock records those that archive and package have, or with TrustAllHashes all.
//
// A NetworkMirror remembers the documents of versions until a run of an installer.Installer ends, otherwise
// as long as it lives. Its fields must not change while it is in use, and it must not be copied. It is safe
// for concurrent use.
type NetworkMirror struct {
	// URL is the https URL of the mirror.
	URL *url.URL
	// Credentials finds the token for the mirror's host. nil means none.
	Credentials disco.CredentialsSource
	// TrustAllHashes takes the hashes that are listed for all platforms of a version as proven, for providers
	// of TrustedHost, as OpenTofu does for its default host.
	TrustAllHashes bool
	TrustedHost    addrs.Hostname
	// HTTPCredentials is that of [Direct], for archives to which neither applies.
	HTTPCredentials func(context.Context, *url.URL) (*url.Userinfo, error)
	// HTTPClient provides the transport, and its Timeout, by default 30 s, limits each request for a
	// document. nil means http.DefaultTransport.
	HTTPClient *http.Client
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
	// Attempts is how often a request is sent at most. 0 means 4; 1 means no retry.
	Attempts int
	// Backoff returns the wait before a retry, counted from 1. nil means random waits that grow, or those that
	// servers ask for.
	Backoff func(retry int) time.Duration

	// releases are the documents of versions, for all platforms.
	releases singleflight.Group[httpx.Shared[release], releaseDocument]
	pauses   httpx.Pauses
	once     sync.Once
	tokens   *disco.Client
}

var _ Source = (*NetworkMirror)(nil)

type release struct {
	provider addrs.Provider
	version  versions.Version
}

type releaseDocument struct {
	archives map[addrs.Platform]listedArchive
	from     *url.URL
}

// hashes returns the hashes that are listed for all platforms.
func (d releaseDocument) hashes() []hashing.Hash {
	var all []hashing.Hash
	for _, archive := range d.archives {
		all = append(all, archive.hashes...)
	}
	return sorted(all)
}

const (
	// maxMirrorRedirects is half of the limit of net/http.
	maxMirrorRedirects = 5
	// maxMirrorDocument is in bytes.
	maxMirrorDocument = 16 << 20
)

// Versions implements [Source]. The error is a *[MirrorError].
func (m *NetworkMirror) Versions(ctx context.Context, provider addrs.Provider) (Listing, error) {
	about := MirrorError{Provider: provider}
	found, _, err := readDocument(ctx, m, &about, "index.json", parseMirrorIndex, func(found []Version) int { return len(found) })
	return Listing{Versions: found}, err
}

// Package implements [Source]. The error is a *[MirrorError].
func (m *NetworkMirror) Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (Package, error) {
	about := MirrorError{Provider: provider, Version: version}
	document, err := singleflight.For(ctx, &m.releases).Do(ctx, httpx.Share(ctx, release{provider, version}), func(ctx context.Context) (releaseDocument, error) {
		about := about
		archives, from, err := readDocument(ctx, m, &about, version.String()+".json", parseMirrorArchives, countHashes)
		return releaseDocument{archives, from}, err
	})
	if err != nil {
		return nil, asMirrorError(about, err)
	}
	about.Platform, about.Location = platform, addrs.Redact(document.from.String())
	listed, ok := document.archives[platform]
	switch {
	case !ok:
		return nil, about.with(ErrUnsupportedPlatform)
	case listed.unusable:
		return nil, about.with(fmt.Errorf("%w: it lists hashes, and none of them has a form that can be compared", ErrInvalidMirror))
	}
	at, err := archiveURL(document.from, listed.url)
	if err != nil {
		return nil, about.with(err)
	}
	found := &networkPackage{mirror: m, url: at, location: addrs.Redact(at.String()), hashes: listed.hashes}
	if m.TrustAllHashes && m.TrustedHost != "" && provider.Hostname == m.TrustedHost {
		found.trusted = document.hashes()
	}
	return found, nil
}

// Evidence implements [Source].
func (m *NetworkMirror) Evidence(addrs.Provider) []evidence.Evidence {
	return []evidence.Evidence{m.evidence()}
}

func (m *NetworkMirror) evidence() evidence.Evidence {
	if m.URL == nil {
		return evidence.Evidence{}
	}
	at := *m.URL
	at.User = nil
	return namedMirror(addrs.Redact(at.String()))
}

// Local implements [Source].
func (m *NetworkMirror) Local() Source { return Multi(nil) }

// readDocument requests and parses a JSON document, and returns its URL after redirects. The error is about, with a reason.
func readDocument[V any](ctx context.Context, m *NetworkMirror, about *MirrorError, name string, parse func([]byte) (V, error), listed func(V) int) (none V, from *url.URL, err error) {
	ctx = httpx.WithoutPointer(ctx) // the user has named the mirror, also if only a package requires the provider
	about.Location = "network mirror"
	if m.URL == nil || m.URL.Scheme != "https" || m.URL.Host == "" {
		return none, nil, about.with(errors.New("its URL is not an https URL"))
	}
	p := about.Provider
	at := m.URL.JoinPath(string(p.Hostname), p.Namespace, p.Type, name)
	at.RawQuery, at.Fragment, at.RawFragment = "", "", ""
	about.Location = addrs.Redact(at.String())
	document := httpx.Document[V]{
		Login: httpx.Login{
			Request: func() (*http.Request, error) { return m.documentRequest(ctx, at) },
			Renewed: func(refused *http.Request) bool { return m.isRenewed(ctx, refused) },
		},
		Limit: maxMirrorDocument,
		Read: func(answer *httpx.Answer) (V, error) {
			if err := checkDocument(about, answer); err != nil {
				return none, err
			}
			return parse(answer.Body)
		},
		Listed: listed,
	}
	client := m.client()
	client.AttemptTimeout = httpx.TimeoutOf(m.HTTPClient)
	found, answer, err := document.Get(client)
	if err != nil {
		return none, nil, about.with(mirrorFailure(refused(LoginToken, err)))
	}
	return found, answer.URL(), nil
}

func (m *NetworkMirror) documentRequest(ctx context.Context, at *url.URL) (*http.Request, error) {
	req, err := newRequest(ctx, at.String()) // with the password of the URL, if it has one
	if err == nil {
		err = m.authorize(ctx, req)
	}
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Del("Accept-Encoding") // documents may be compressed
	return req, nil
}

func (m *NetworkMirror) client() *httpx.Client {
	return &httpx.Client{
		HTTP:         m.HTTPClient,
		UserAgent:    m.UserAgent,
		MaxRedirects: maxMirrorRedirects,
		Refuse:       httpx.InsecureRedirect,
		Retry:        httpx.Retry{Attempts: m.Attempts, Backoff: m.Backoff, Pauses: &m.pauses},
	}
}

func (m *NetworkMirror) authorize(ctx context.Context, req *http.Request) error {
	host, err := addrs.ParseHostname(m.URL.Host)
	if err != nil {
		return nil // an IPv6 address, for which no credentials can be configured
	}
	return m.services().Authorize(ctx, host, req)
}

func (m *NetworkMirror) isRenewed(ctx context.Context, req *http.Request) bool {
	host, err := addrs.ParseHostname(m.URL.Host)
	return err == nil && m.services().Refused(ctx, host, req)
}

func (m *NetworkMirror) services() *disco.Client {
	m.once.Do(func() { m.tokens = &disco.Client{Credentials: m.Credentials} })
	return m.tokens
}

func checkDocument(about *MirrorError, answer *httpx.Answer) error {
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return fmt.Errorf("%w: %w", ErrNotFound, &httpx.StatusError{Answer: answer, Meaning: "it has no " + about.Subject()})
	default:
		return &httpx.StatusError{Answer: answer}
	}
	if !isJSON(answer.Header.Get("Content-Type")) {
		return fmt.Errorf("%w: its content type is %q, not application/json", ErrInvalidMirror, answer.Header.Get("Content-Type"))
	}
	return nil
}

// mirrorFailure converts errors of package httpx to sentinels of this package, if there is one.
func mirrorFailure(err error) error {
	if large, ok := errors.AsType[*httpx.TooLargeError](err); ok {
		return fmt.Errorf("%w: the answer has more than %d bytes", ErrTooLarge, large.Limit)
	}
	if status, ok := errors.AsType[*httpx.StatusError](err); ok {
		switch status.Answer.StatusCode {
		case http.StatusNotFound, http.StatusGone:
			return fmt.Errorf("%w: %w", ErrInvalidMirror, err)
		case http.StatusUnauthorized, http.StatusForbidden:
			return fmt.Errorf("%w: %w", ErrMirrorRefused, err)
		}
	}
	return err
}

func archiveURL(document *url.URL, reference string) (*url.URL, error) {
	at, err := document.Parse(reference)
	if err != nil || reference == "" {
		return nil, fmt.Errorf("%w: the URL of the archive cannot be parsed", ErrInvalidMirror)
	}
	hostname.NormalizeURL(at) // as in the request
	reason, ok := hostname.MayPointTo(document, at)
	switch {
	case at.Scheme != "https" || at.Host == "":
		return nil, fmt.Errorf("%w: the archive is not at an https URL: %q", ErrInvalidMirror, addrs.Redact(at.String()))
	case !ok:
		return nil, fmt.Errorf("%w: the archive is at %q: %s", ErrInvalidMirror, addrs.Redact(at.String()), reason)
	}
	return at, nil
}

type networkPackage struct {
	mirror   *NetworkMirror
	url      *url.URL
	location string
	// hashes are listed for the package, which must have one of them.
	hashes []hashing.Hash
	// trusted are the hashes of all platforms, if they count as proven.
	trusted []hashing.Hash
}

var _ Package = (*networkPackage)(nil)

func (p *networkPackage) Location() string { return p.location }

// Archive returns "" if several are listed: mirrors made by stock tools list those of all platforms, so it is not
// known which one is this archive's.
func (p *networkPackage) Archive() hashing.Hash {
	if sums := p.sums(); len(sums) == 1 {
		return sums[0]
	}
	return ""
}

func (p *networkPackage) sums() []hashing.Hash {
	return slices.DeleteFunc(slices.Clone(p.hashes), func(h hashing.Hash) bool { return h.Scheme() != "zh" })
}

func (p *networkPackage) Dir() string { return "" }

func (p *networkPackage) ReportsH1() bool { return false }

func (p *networkPackage) Authenticate(context.Context) (Authentication, error) {
	return Authentication{Evidence: p.mirror.evidence(), Announced: slices.Clone(p.hashes), Hashes: slices.Clone(p.trusted)}, nil
}

func (p *networkPackage) Download(ctx context.Context, file *os.File, progress func(done, total int64)) error {
	client := p.mirror.client()
	client.Floor = httpx.Floor{Window: defaultStallTimeout}
	req, login, err := p.request(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", p.location, err)
	}
	sum := sha256.New()
	d := &httpx.Download{File: file, Limit: providerzip.MaxArchive, Hash: sum, Progress: progress, Disk: packagelimits.DiskOf(ctx)}
	d.Verify = func() error { return checkSum(p.location, sum, p.sums()...) }
	return atLocation(p.location, mirrorFailure(refused(login, d.Resume(client, req))))
}

// request returns the request for the archive, with the mirror's own credentials if it has the same origin.
func (p *networkPackage) request(ctx context.Context) (_ *http.Request, login Login, err error) {
	m, at := p.mirror, *p.url
	isOwn := httpx.SameOrigin(&at, m.URL)
	if at.User == nil && isOwn {
		at.User = m.URL.User
	}
	ctx = httpx.PointedToName(httpx.WithoutPointer(ctx), m.URL, &at)
	req, err := newRequest(ctx, at.String())
	if err == nil && isOwn && at.User == nil {
		login, err = LoginToken, m.authorize(ctx, req)
	}
	if err != nil || req.Header.Get("Authorization") != "" || m.HTTPCredentials == nil {
		return req, login, err
	}
	with, err := withNetrc(ctx, &at, m.HTTPCredentials)
	if err != nil {
		return nil, 0, err
	}
	req, err = newRequest(ctx, with.String())
	return req, cmp.Or(login, LoginNetrc), err
}
