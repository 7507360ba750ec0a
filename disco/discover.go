package disco

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/opentofu/svchost"
	svcdisco "github.com/opentofu/svchost/disco"
	"golang.org/x/net/idna"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/text/jsonkeys"
)

// discover uses a new svcdisco.Disco for each lookup. In a shared one, hosts would wait for each other's
// credentials.
func (c *Client) discover(ctx context.Context, host addrs.Hostname) (*svcdisco.Host, error) {
	if !isHost(host) {
		return nil, fmt.Errorf("%q is not a host name", string(host))
	}
	l := &lookup{client: c, host: host}
	d := svcdisco.New(svcdisco.WithHTTPClient(&http.Client{Transport: l}))
	if services, ok := c.ForcedServices[host]; ok {
		d.ForceHostServices(svchost.Hostname(host), services)
	}
	found, err := d.Discover(ctx, svchost.Hostname(host))
	if err != nil {
		return nil, l.explain(ctx, err)
	}
	return found, nil
}

// isHost reports whether a Hostname, which may not have been parsed, is only a host in a URL. For other
// values its ForDisplay method may panic.
func isHost(host addrs.Hostname) bool {
	name, _, _ := strings.Cut(string(host), ":")
	if _, err := idna.Lookup.ToUnicode(name); err != nil || name == "" {
		return false
	}
	u, err := url.Parse("https://" + string(host))
	return err == nil && u.Host == string(host)
}

// lookup is one discovery. As the transport of svcdisco, it applies all rules about requests and answers.
type lookup struct {
	client *Client
	host   addrs.Hostname
	// failed is the error of RoundTrip, which net/http and svcdisco do not preserve.
	failed error
}

// RoundTrip returns only complete, successful answers within the size limit, and follows redirects
// itself.
func (l *lookup) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	// Like stock tools, continue without unreadable credentials, which most hosts do not require here.
	var credentialsErr error
	answer, _, err := httpx.Document[*httpx.Answer]{
		Login: httpx.Login{
			Request: func() (*http.Request, error) {
				authorized := req.Clone(ctx)
				credentialsErr = l.client.Authorize(ctx, l.host, authorized)
				return authorized, nil
			},
			Renewed: func(refused *http.Request) bool { return l.client.Refused(ctx, l.host, refused) },
		},
		Limit: maxDocument,
		// svcdisco keeps all values, of any type. Even lists without elements take up less than 400 bytes for 16 of text.
		Listed: func(answer *httpx.Answer) int { return len(answer.Body) / 16 },
		Read: func(answer *httpx.Answer) (*httpx.Answer, error) {
			return answer, checkAnswer(answer, credentialsErr)
		},
	}.Get(l.client.httpClient())
	if err != nil {
		l.failed = err
		return nil, err
	}
	return response(req.Clone(ctx), answer), nil
}

// response converts an answer for svcdisco, which resolves relative service URLs against its request's
// URL.
func response(req *http.Request, answer *httpx.Answer) *http.Response {
	req.URL = answer.URL()
	return &http.Response{
		StatusCode:    answer.StatusCode,
		Header:        answer.Header,
		Body:          io.NopCloser(bytes.NewReader(answer.Body)),
		ContentLength: int64(len(answer.Body)),
		Request:       req,
	}
}

func checkAnswer(answer *httpx.Answer, credentialsErr error) error {
	answered := &httpx.StatusError{Answer: answer}
	switch status := answer.StatusCode; {
	case status == http.StatusOK:
		return checkDuplicates(answer.Body)
	case status == http.StatusNotFound:
		answered.Meaning = "it has no " + answer.URL().Path + ", so it is no registry"
		return fmt.Errorf("%w: %w", ErrNoServices, answered)
	case status == http.StatusTooManyRequests, status >= 500:
		return fmt.Errorf("%w: %w", ErrUnreachable, answered)
	case credentialsErr != nil:
		return fmt.Errorf("%w: %w to a request without credentials, as %w", ErrInvalidAnswer, answered, credentialsErr)
	}
	return fmt.Errorf("%w: %w", ErrInvalidAnswer, answered)
}

func (l *lookup) explain(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case l.failed == nil:
		// svcdisco refused the content.
		return fmt.Errorf("%w: %s", ErrInvalidAnswer, httpx.Printable(err.Error()))
	}
	if network, ok := errors.AsType[*httpx.NetworkError](l.failed); ok && network.IsUntrusted() {
		return fmt.Errorf("%w: %w", ErrUntrusted, network)
	} else if ok {
		return fmt.Errorf("%w: %w", ErrUnreachable, network)
	}
	if _, ok := errors.AsType[*httpx.HeaderError](l.failed); ok || isSentinel(l.failed) {
		return l.failed
	}
	return fmt.Errorf("%w: %w", ErrInvalidAnswer, l.failed)
}

// checkDuplicates refuses duplicate properties, because programs differ in which value they use. svcdisco
// checks whether the document is a valid object.
func checkDuplicates(document []byte) error {
	var properties map[string]json.RawMessage
	err := jsonkeys.Unmarshal(document, &properties)
	if duplicate, ok := errors.AsType[*jsonkeys.DuplicateError](err); ok {
		return fmt.Errorf("%w: the document has the property %q twice", ErrInvalidAnswer, duplicate.Second)
	}
	return nil
}
