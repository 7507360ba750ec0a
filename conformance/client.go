package conformance

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
)

// Limits in bytes: those of clients, or far above them.
const (
	maxDiscovery = 1 << 20
	maxDocument  = 16 << 20
	maxManifest  = 4 << 20
	maxPackage   = 1 << 30
)

// Client checks servers; the zero value without credentials. It is safe for concurrent use if its
// HTTPClient is.
type Client struct {
	// HTTPClient may be nil, for a timeout of 30 s for each request.
	HTTPClient *http.Client
	// Credentials are sent to registries for modules and providers, but not to the addresses of packages.
	Credentials disco.CredentialsSource
	// OCICredentials are sent to OCI registries that ask for them. Without any, a token for reading is
	// requested.
	OCICredentials getmodules.OCICredentials
}

func (c Client) httpClient() *http.Client {
	if c.HTTPClient != nil {
		return c.HTTPClient
	}
	return &http.Client{Timeout: 30 * time.Second}
}

type session struct {
	do            func(*http.Request) (*http.Response, error)
	authorization http.Header // for registries
	report        *Report
}

func (c Client) session(server string) session {
	return session{c.httpClient().Do, nil, &Report{Server: server, Checked: []string{}, Violations: []Violation{}}}
}

// registry has the credentials for the host.
func (c Client) registry(ctx context.Context, server string, host addrs.Hostname) (session, error) {
	s := c.session(server)
	if c.Credentials == nil {
		return s, nil
	}
	credentials, err := c.Credentials.ForHost(ctx, host)
	if err != nil || credentials == nil {
		return s, err
	}
	request := &http.Request{Header: http.Header{}}
	credentials.PrepareRequest(request)
	s.authorization = request.Header
	return s, nil
}

type answer struct {
	request string // the method and the URL, redacted
	url     *url.URL
	status  int
	header  http.Header
	size    int64 // of the body, which is nil if it was copied elsewhere
	body    []byte
}

// ask reads at most limit bytes, and more are an error. It returns nil without an answer.
func (s session) ask(ctx context.Context, method string, u *url.URL, header http.Header, limit int64) (*answer, error) {
	var body bytes.Buffer
	a, err := s.askInto(ctx, &body, method, u, header, limit)
	if a != nil {
		a.body = body.Bytes()
	}
	return a, err
}

// askInto copies the body to a writer.
func (s session) askInto(ctx context.Context, w io.Writer, method string, u *url.URL, header http.Header, limit int64) (*answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	maps.Copy(request.Header, header)
	request.Header.Set("User-Agent", "cotter-conformance")
	response, err := s.do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // its URL may hold secrets
		}
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	n, err := io.Copy(w, io.LimitReader(response.Body, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("the answer has more than %d bytes", limit)
	}
	a := &answer{
		request: method + " " + addrs.Redact(u.String()), url: response.Request.URL,
		status: response.StatusCode, header: response.Header, size: n,
	}
	return a, err
}

type packageFile struct {
	*os.File
	size int64
	sum  string // SHA-256, as hexadecimal digits
}

// download returns a file that the caller closes.
func (s session) download(ctx context.Context, u *url.URL, header http.Header) (*packageFile, error) {
	file, err := os.CreateTemp("", "cotter-conformance-*")
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	a, err := s.askInto(ctx, io.MultiWriter(file, sum), http.MethodGet, u, header, maxPackage)
	p := &packageFile{File: file, sum: hex.EncodeToString(sum.Sum(nil))}
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("the status is %d", a.status)
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	p.size = a.size
	return p, nil
}

// Close also removes the file.
func (p *packageFile) Close() {
	_ = p.File.Close()
	_ = os.Remove(p.Name())
}

// names returns the names of the files in a zip archive.
func (p *packageFile) names() ([]string, error) {
	archive, err := zip.NewReader(p.File, p.size)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range archive.File {
		if !f.FileInfo().IsDir() {
			names = append(names, f.Name)
		}
	}
	return names, nil
}

// mediaType is without parameters.
func (a *answer) mediaType() string {
	kind, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err != nil {
		return a.header.Get("Content-Type")
	}
	return kind
}

// decode allows unknown fields, as the protocols say.
func (a *answer) decode(target any) error {
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	if err := decoder.Decode(target); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after the document")
	}
	return nil
}

// document checks status, content type and size of a JSON document, by the rules with the prefix. It
// returns nil if there is nothing to read on.
func (s session) document(ctx context.Context, prefix string, u *url.URL, limit int64) *answer {
	return s.documentWith(ctx, prefix+"status", prefix+"type", prefix+"json", u, limit)
}

func (s session) documentWith(ctx context.Context, status, kind, format string, u *url.URL, limit int64) *answer {
	a, err := s.answered(ctx, status, u, s.authorization, limit, http.StatusOK)
	if a == nil {
		return nil
	}
	s.report.expect(a.mediaType() == "application/json", kind, a.request, "the content type is %s", excerpt(a.header.Get("Content-Type")))
	if err == nil && !json.Valid(a.body) {
		err = fmt.Errorf("it is not JSON: %s", excerpt(string(a.body)))
	}
	if !s.report.expect(err == nil, format, a.request, "%v", err) {
		return nil
	}
	return a
}

// answered is ask for an answer that, by a rule, has one of some statuses. It returns nil otherwise.
func (s session) answered(ctx context.Context, rule string, u *url.URL, header http.Header, limit int64, statuses ...int) (*answer, error) {
	a, err := s.ask(ctx, http.MethodGet, u, header, limit)
	switch {
	case a == nil:
		s.report.expect(false, rule, "GET "+addrs.Redact(u.String()), "there is no answer: %v", err)
	case !s.report.expect(slices.Contains(statuses, a.status), rule, a.request, "the status is %d", a.status):
		a = nil
	}
	return a, err
}

func (s session) missing(ctx context.Context, rule string, u *url.URL, header http.Header) {
	_, _ = s.answered(ctx, rule, u, header, maxDocument, http.StatusNotFound)
}

const unknownName = "cotter-conformance-does-not-exist"

// finish returns the report, or why the checks ended.
func (s session) finish(ctx context.Context) (*Report, error) {
	return s.report, context.Cause(ctx)
}
