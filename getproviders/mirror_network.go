package getproviders

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/minrate"
	"github.com/cotterpin/cotter/internal/netguard"
	"github.com/cotterpin/cotter/internal/retryafter"
	"github.com/cotterpin/cotter/internal/singleflight"
	"github.com/cotterpin/cotter/versions"
)

// NetworkMirror is the Source of a server of the provider network mirror protocol
// (https://opentofu.org/docs/internals/provider-network-mirror-protocol/). It has these
// documents below its URL, with the host in ASCII:
//
//	HOST/NAMESPACE/TYPE/index.json      the versions
//	HOST/NAMESPACE/TYPE/VERSION.json    the archives of a version, and their hashes
//
// They must have the content type application/json, and list nothing that is of no use:
// versions that are none are skipped, and so are hashes of unknown schemes. Everything
// is got by https. The token of the mirror's host is sent for the documents only, and
// the user name and password of the URL also for archives of the same origin.
//
// If a mirror lists hashes for an archive then it must have one of them. Of these, a
// lock records those of the archive and the package themselves, unless the mirror's
// word counts for all; see TrustAllHashes.
//
// It keeps the documents of versions, so its lifetime should be one run. Its fields must
// not change once it is in use. It must not be copied. It is safe for concurrent use.
type NetworkMirror struct {
	// URL is the mirror's, by https.
	URL *url.URL
	// Credentials finds the token for the mirror's host. nil means that there is none.
	Credentials disco.CredentialsSource
	// TrustAllHashes says that all hashes that are listed for an archive of a provider
	// of TrustedHost count as proven. OpenTofu does that for its default host only.
	TrustAllHashes bool
	TrustedHost    addrs.Hostname
	// HTTPClient gives the transport; its Timeout limits each request for a document.
	// nil means http.DefaultTransport, a Timeout of 0 means 30 s.
	HTTPClient *http.Client
	// UserAgent is sent with each request. "" means "cotter".
	UserAgent string
	// Retries is how often a failed request is repeated. 0 means 3, a negative number
	// never.
	Retries int
	// Backoff returns the wait before the retry with this number, from 1 on. nil
	// means random waits that grow, and those for which servers ask.
	Backoff func(retry int) time.Duration

	// releases are the documents of versions: one is for the packages of all platforms.
	releases singleflight.Group[release, releaseDocument]
	pauses   retryafter.Hosts
}

var _ Source = (*NetworkMirror)(nil)

// release is a version of a provider.
type release struct {
	provider addrs.Provider
	version  versions.Version
}

// releaseDocument is the document of a release, and the URL that had it in the end.
type releaseDocument struct {
	archives map[addrs.Platform]listedArchive
	from     *url.URL
}

const (
	// maxMirrorRedirects is half of the limit of net/http.
	maxMirrorRedirects = 5
	// maxMirrorDocument bounds a JSON document, in bytes.
	maxMirrorDocument = 32 << 20
	// mirrorStall is how long a server may take to answer, and the window over which
	// its archive must keep to the minimum rate.
	mirrorStall = 30 * time.Second
)

// Versions implements [Source]. The error is a *[MirrorError].
func (m *NetworkMirror) Versions(ctx context.Context, provider addrs.Provider) (Listing, error) {
	about := MirrorError{Provider: provider}
	text, _, err := m.document(ctx, &about, "index.json")
	if err != nil {
		return Listing{}, err
	}
	found, err := parseMirrorIndex(text)
	if err != nil {
		return Listing{}, about.with(err)
	}
	return Listing{Versions: found}, nil
}

// Package implements [Source]. The error is a *[MirrorError].
func (m *NetworkMirror) Package(ctx context.Context, provider addrs.Provider, version versions.Version, platform addrs.Platform) (Package, error) {
	about := MirrorError{Provider: provider, Version: version}
	document, err := m.releases.Do(ctx, release{provider, version}, func(ctx context.Context) (releaseDocument, error) {
		about := about
		text, from, err := m.document(ctx, &about, version.String()+".json")
		if err != nil {
			return releaseDocument{}, err
		}
		archives, err := parseMirrorArchives(text)
		if err != nil {
			return releaseDocument{}, about.with(err)
		}
		return releaseDocument{archives, from}, nil
	})
	if err != nil {
		return nil, asMirrorError(about, err)
	}
	about.Platform, about.Location = platform, addrs.Redact(document.from.String())
	listed, ok := document.archives[platform]
	if !ok {
		return nil, about.with(ErrUnsupportedPlatform)
	}
	at, err := archiveURL(document.from, listed.url)
	if err != nil {
		return nil, about.with(err)
	}
	return &networkPackage{
		mirror:   m,
		url:      at,
		location: addrs.Redact(at.String()),
		hashes:   listed.hashes,
		trusted:  m.TrustAllHashes && m.TrustedHost != "" && provider.Hostname == m.TrustedHost,
	}, nil
}

// document gets a JSON document about a provider, and the URL that had it in the end.
// The error is about, with a reason.
func (m *NetworkMirror) document(ctx context.Context, about *MirrorError, name string) (text []byte, from *url.URL, err error) {
	about.Location = "network mirror"
	if m.URL == nil || m.URL.Scheme != "https" || m.URL.Host == "" {
		return nil, nil, about.with(errors.New("its URL is not one of https"))
	}
	p := about.Provider
	at := m.URL.JoinPath(string(p.Hostname), p.Namespace, p.Type, name)
	at.RawQuery, at.Fragment, at.RawFragment = "", "", ""
	about.Location = addrs.Redact(at.String())
	req, err := newRequest(ctx, at.String()) // with the password of the URL, if it has one
	if err == nil {
		err = m.authorize(ctx, req)
	}
	if err != nil {
		return nil, nil, about.with(err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Del("Accept-Encoding") // documents may be compressed
	client := m.client()
	client.AttemptTimeout = httpx.TimeoutOf(m.HTTPClient)
	answer, err := client.Read(req, maxMirrorDocument)
	if err == nil {
		err = checkDocument(answer)
	}
	if err != nil {
		return nil, nil, about.with(mirrorFailure(err))
	}
	return answer.Body, answer.URL(), nil
}

func (m *NetworkMirror) client() *httpx.Client {
	return &httpx.Client{
		HTTP:         m.HTTPClient,
		UserAgent:    m.UserAgent,
		MaxRedirects: maxMirrorRedirects,
		Refuse:       httpx.InsecureRedirect,
		Retry:        httpx.Retry{Max: m.Retries, Backoff: m.Backoff, Pauses: &m.pauses},
	}
}

// authorize adds the token of the mirror's host, which replaces a password.
func (m *NetworkMirror) authorize(ctx context.Context, req *http.Request) error {
	if m.Credentials == nil {
		return nil
	}
	host, err := addrs.ParseHostname(m.URL.Host)
	if err != nil {
		return nil // an IPv6 address, for which no credentials can be configured
	}
	found, err := m.Credentials.ForHost(ctx, host)
	if err != nil {
		return &disco.CredentialsError{Host: host, Err: err}
	}
	if found != nil {
		found.PrepareRequest(req)
	}
	return nil
}

// checkDocument refuses answers that are not JSON documents.
func checkDocument(answer *httpx.Answer) error {
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return ErrNotFound
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w: it answered %s", ErrMirrorRefused, answer.Status())
	default:
		return &httpx.StatusError{Answer: answer}
	}
	if !isJSON(answer.Header.Get("Content-Type")) {
		return fmt.Errorf("%w: its content type is %q, not application/json", ErrInvalidMirror, answer.Header.Get("Content-Type"))
	}
	return nil
}

// mirrorFailure wraps the errors of package httpx that have a sentinel here.
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

// archiveURL returns the URL of an archive that a document names.
func archiveURL(document *url.URL, reference string) (*url.URL, error) {
	at, err := document.Parse(reference)
	if err != nil || reference == "" {
		return nil, fmt.Errorf("%w: the URL of the archive cannot be parsed", ErrInvalidMirror)
	}
	reason, ok := netguard.May(document, at)
	switch {
	case at.Scheme != "https" || at.Host == "":
		return nil, fmt.Errorf("%w: the archive is not at an https URL: %q", ErrInvalidMirror, addrs.Redact(at.String()))
	case !ok:
		return nil, fmt.Errorf("%w: the archive is at %q: %s", ErrInvalidMirror, addrs.Redact(at.String()), reason)
	}
	return at, nil
}

// networkPackage is a package of a NetworkMirror.
type networkPackage struct {
	mirror   *NetworkMirror
	url      *url.URL
	location string
	// hashes are those that the mirror lists for it, of which it must have one.
	hashes []hashing.Hash
	// trusted says that all of them are proven.
	trusted bool
}

var _ Package = (*networkPackage)(nil)

// Location implements [Package].
func (p *networkPackage) Location() string { return p.location }

// Archive implements [Package]. Mirrors of stock tools list the hashes of the archives
// of all platforms, so that it is not known which one this archive has.
func (p *networkPackage) Archive() hashing.Hash {
	if sums := p.sums(); len(sums) == 1 {
		return sums[0]
	}
	return ""
}

// sums returns the listed hashes of archives.
func (p *networkPackage) sums() []hashing.Hash {
	return slices.DeleteFunc(slices.Clone(p.hashes), func(h hashing.Hash) bool { return h.Scheme() != "zh" })
}

// Dir implements [Package].
func (p *networkPackage) Dir() string { return "" }

// ReportsH1 implements [Package].
func (p *networkPackage) ReportsH1() bool { return false }

// Authenticate implements [Package].
func (p *networkPackage) Authenticate(context.Context) (Authentication, error) {
	found := Authentication{Announced: slices.Clone(p.hashes)}
	if p.trusted {
		found.Hashes = slices.Clone(p.hashes)
	}
	return found, nil
}

// Download implements [Package].
func (p *networkPackage) Download(ctx context.Context, file *os.File, progress func(done, total int64)) error {
	at := *p.url
	if at.User == nil && httpx.SameOrigin(&at, p.mirror.URL) {
		at.User = p.mirror.URL.User
	}
	client := p.mirror.client()
	client.Floor = minrate.Floor{Window: mirrorStall}
	t := &transfer{client: client, url: at.String(), file: file, sum: sha256.New(), limit: maxMirrorArchive, progress: progress}
	want := p.sums()
	for {
		if err := t.run(ctx, p.mirror.Retries >= 0); err != nil {
			return fmt.Errorf("%s: %w", p.location, mirrorFailure(err))
		}
		got := hashing.Hash(fmt.Sprintf("zh:%x", t.sum.Sum(nil)))
		if len(want) == 0 || slices.Contains(want, got) {
			return nil
		}
		if !t.resumed {
			return &MismatchError{Location: p.location, Want: texts(want), Got: string(got)}
		}
		// The parts may be those of two files.
		t.forget()
		t.most = 0
	}
}

func texts(hashes []hashing.Hash) []string {
	shown := make([]string, len(hashes))
	for i, h := range hashes {
		shown[i] = string(h)
	}
	return shown
}
