package gcs

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/internal/objects"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

// Getter fetches from Google Cloud Storage. The zero value is ready to use. It is safe for concurrent use,
// and keeps tokens. After first use it must not be copied, and its fields must not change.
type Getter struct {
	// HTTPClient sends all requests except those to an instance's metadata service. nil means a client with
	// http.DefaultTransport. Its CheckRedirect and Jar are not used.
	HTTPClient *http.Client
	// UserAgent is sent with these requests. "" means the user agent of the fetcher.
	UserAgent string
	// Endpoint is another server, such as an emulator: SCHEME://HOST, or HOST for http. The application
	// default credentials, which are for Google, are then not used.
	Endpoint string
	// Token is an OAuth 2 access token in place of the application default credentials.
	Token string
	// QuotaProject is charged for requests with a token, for quota and for buckets with "requester pays".
	// "" means the project in the application default credentials.
	QuotaProject string
	// Attempts is how often a request is sent at most. 0 means 6; 1 means no retry.
	Attempts int
	// Backoff returns the wait before a retry, counted from 1. nil means 0.5 s, doubled for each further retry,
	// with jitter, or the pause that the server asks for.
	Backoff func(retry int) time.Duration

	pauses httpx.Pauses

	mu    sync.Mutex
	found *credentials
}

var _ getmodules.Getter = (*Getter)(nil)

// Get implements [getmodules.Getter]. Errors wrap [io/fs.ErrNotExist], [io/fs.ErrPermission],
// [getmodules.ErrEmpty] or network errors, or say what is wrong with the address.
func (g *Getter) Get(ctx context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	addr, err := parseAddress(from.Location)
	if err != nil {
		return getmodules.Downloaded{}, err
	}
	if err := addr.check(from.Archive); err != nil {
		return getmodules.Downloaded{}, err
	}
	endpoint, err := g.endpoint()
	if err != nil {
		return getmodules.Downloaded{}, err
	}
	b := &bucket{g, g.client(from.UserAgent), endpoint, addr}
	return getmodules.Downloaded{}, explain(objects.Fetch(ctx, b, addr.object, from.Archive, from.Path))
}

type bucket struct {
	getter   *Getter
	client   *httpx.Client
	endpoint *url.URL // scheme and host
	addr     address
}

type address struct {
	bucket string
	// object is the name of an object, or of a directory with or without a final slash; "" is the whole
	// bucket.
	object string
	// generation is that of the object; "" means the latest.
	generation string
}

func parseAddress(at addrs.Location) (address, error) {
	u := at.URL()
	if err := objects.CheckURL(u); err != nil {
		return address{}, err
	}
	if strings.Trim(u.Fragment, "0123456789") != "" {
		return address{}, errors.New("the fragment of a gcs address is the generation of an object, a number")
	}
	bucket := at.Bucket()
	if bucket.Name == "" {
		return address{}, errNoObject
	}
	return address{bucket: bucket.Name, object: bucket.Key, generation: u.Fragment}, nil
}

var errNoObject = errors.New("the address of an archive in Google Cloud Storage is https://www.googleapis.com/storage/v1/BUCKET/OBJECT")

func (a address) check(archive bool) error {
	switch {
	case archive && a.object == "":
		return errNoObject
	case !archive && a.generation != "":
		return errors.New("only the address of an archive can have a generation")
	}
	return nil
}
