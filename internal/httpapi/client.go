package httpapi

import (
	"cmp"
	"net/http"
	"time"

	"github.com/cotterpin/cotter/internal/pause"
)

const (
	// DefaultRetries is how often a failed request is repeated by default.
	DefaultRetries = 3
	// DefaultRetryWait is the upper bound of the first wait by default.
	DefaultRetryWait = 500 * time.Millisecond
	// DefaultTimeout bounds one attempt, with its body, where the caller's
	// client sets no bound. Stock tools give up after 10 s, which listings of
	// slow registries are known to exceed.
	DefaultTimeout = 30 * time.Second
	// DownloadTimeout bounds a whole download, so that a server that sends a
	// byte now and then cannot hold a run for ever.
	DownloadTimeout = time.Hour
	// StallTimeout is how long a download may stay without a byte, and the window
	// over which it must keep to [Client].MinRate.
	StallTimeout = time.Minute
	// defaultUserAgent names the program to servers that block unnamed ones.
	defaultUserAgent = "cotter"
)

// Client asks services. The zero value follows no redirects and is ready for
// use.
type Client struct {
	// HTTPClient gives the transport and the bound of one attempt; its cookie
	// jar and redirect policy are not used. nil means http.DefaultTransport.
	HTTPClient *http.Client
	// UserAgent is sent with each request. Empty means "cotter".
	UserAgent string
	// Retries is how often a failed request is repeated: zero means
	// DefaultRetries, a negative number not at all.
	Retries int
	// RetryWait bounds the first wait; each later one may be twice as long, up
	// to 16 times. Zero means DefaultRetryWait.
	RetryWait time.Duration
	// Pauses are those that servers have asked for; clients may share them. nil
	// means that each request is told anew.
	Pauses *pause.Hosts
	// MinRate is how many bytes a second a download must bring at least, on
	// average over each StallTimeout but the first. 0 means 4096; if it is
	// negative, any byte will do.
	MinRate int64
	// MaxRedirects is how many redirects are followed in one attempt.
	MaxRedirects int
}

// httpClient is the caller's client under the rules of this package.
func (c *Client) httpClient(timeout time.Duration) *http.Client {
	transport := http.DefaultTransport
	if c.HTTPClient != nil && c.HTTPClient.Transport != nil {
		transport = c.HTTPClient.Transport
	}
	return &http.Client{Timeout: timeout, CheckRedirect: c.checkRedirect, Transport: locationChecker{transport}}
}

func (c *Client) timeout() time.Duration {
	if c.HTTPClient == nil {
		return DefaultTimeout
	}
	return cmp.Or(c.HTTPClient.Timeout, DefaultTimeout)
}

func (c *Client) retries() int {
	if c.Retries == 0 {
		return DefaultRetries
	}
	return max(c.Retries, 0)
}
