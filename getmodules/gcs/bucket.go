package gcs

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/cotterpin/cotter/getmodules/internal/objects"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

const (
	googleEndpoint  = "https://storage.googleapis.com"
	projectHeader   = "X-Goog-User-Project"
	defaultAttempts = 6
	// maxRedirects limits the redirects of one request. Normally there are none; a server that moved needs one.
	maxRedirects = 3
)

// endpoint has only a scheme and a host.
func (g *Getter) endpoint() (*url.URL, error) {
	text := cmp.Or(g.Endpoint, googleEndpoint)
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("the endpoint of Google Cloud Storage must be http:// or https:// and a host, not %q", g.Endpoint)
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// client returns the client for all requests of a download. userAgent is that of the fetcher.
func (g *Getter) client(userAgent string) *httpx.Client {
	c := &httpx.Client{
		HTTP:         g.HTTPClient,
		UserAgent:    cmp.Or(g.UserAgent, userAgent),
		MaxRedirects: maxRedirects,
		Refuse:       leavesHTTPS,
		Retry:        httpx.Retry{Attempts: cmp.Or(g.Attempts, defaultAttempts), Backoff: g.Backoff, Pauses: &g.pauses},
	}
	if g.HTTPClient != nil {
		c.AttemptTimeout = g.HTTPClient.Timeout
	}
	return c
}

// leavesHTTPS returns the reason for refusing a redirect to another server without https.
func leavesHTTPS(from, to *url.URL) (reason string) {
	if to.Scheme != "https" && !httpx.SameOrigin(from, to) {
		return "another server is only followed by https"
	}
	return ""
}

// send passes the answer to read, and retries failures that may be temporary. It looks up the credentials
// for each attempt, because they may expire.
func (b *bucket) send(ctx context.Context, path string, read func(*httpx.Response) error) error {
	if b.getter.Endpoint != "" {
		ctx = httpx.WithoutPointer(ctx) // the user has named the server, whoever has named the bucket
	}
	return b.client.Retry.Do(ctx, b.endpoint.Host, func() error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.endpoint.String()+"/storage/v1/b/"+path, http.NoBody)
		if err != nil {
			return err
		}
		used, err := b.getter.credentials(ctx, b.client)
		if err != nil {
			return err
		}
		if used.token != nil {
			used.token.SetAuthHeader(request)
			if used.project != "" {
				request.Header.Set(projectHeader, used.project)
			}
		}
		answer, err := b.client.Send(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		switch answer.StatusCode {
		case http.StatusOK:
			return read(answer)
		case http.StatusRequestTimeout:
			return &httpx.TemporaryError{Err: newStatusError(answer, used)}
		}
		return newStatusError(answer, used)
	})
}

// page has the requested fields of a page of a list.
type page struct {
	Items []struct {
		Name string `json:"name"`
	} `json:"items"`
	Next string `json:"nextPageToken"`
}

// List yields the objects with the prefix, page by page.
func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		query := url.Values{"prefix": {prefix}, "fields": {"items(name),nextPageToken"}}
		for {
			page, err := b.page(ctx, query)
			if err != nil {
				yield("", err)
				return
			}
			for _, item := range page.Items {
				if !yield(item.Name, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			query.Set("pageToken", page.Next)
		}
	}
}

func (b *bucket) page(ctx context.Context, query url.Values) (*page, error) {
	var got *page
	err := b.send(ctx, url.PathEscape(b.addr.bucket)+"/o?"+query.Encode(), func(answer *httpx.Response) error {
		text, err := answer.ReadAll(objects.MaxList)
		if err != nil {
			return err
		}
		got = new(page)
		if err := json.Unmarshal(text, got); err != nil {
			return errors.New("the list of objects is not valid JSON of the documented form")
		}
		return nil
	})
	return got, err
}

var errChecksum = errors.New("the download does not have the checksum that the server announced")

// Get writes an object to a file, from its beginning. A shorter answer than announced is an error.
func (b *bucket) Get(ctx context.Context, name string, file *os.File) error {
	query := url.Values{"alt": {"media"}}
	if b.addr.generation != "" {
		query.Set("generation", b.addr.generation)
	}
	path := url.PathEscape(b.addr.bucket) + "/o/" + url.PathEscape(name) + "?" + query.Encode()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	d := &httpx.Download{File: file, Hash: sum}
	return b.send(ctx, path, func(answer *httpx.Response) error {
		if err := d.Receive(answer); err != nil {
			return err
		}
		if want, known := checksumOf(answer.Response); known && want != sum.Sum32() {
			return &httpx.TemporaryError{Err: errChecksum}
		}
		return nil
	})
}

// checksumOf returns the CRC32C of the stored object; false if the server does not send it, or decompressed
// the object.
func checksumOf(answer *http.Response) (uint32, bool) {
	if answer.Uncompressed || answer.Header.Get("X-Goog-Stored-Content-Encoding") == "gzip" {
		return 0, false
	}
	for _, values := range answer.Header.Values("X-Goog-Hash") {
		for value := range strings.SplitSeq(values, ",") {
			text, found := strings.CutPrefix(strings.TrimSpace(value), "crc32c=")
			if sum, err := base64.StdEncoding.DecodeString(text); found && err == nil && len(sum) == crc32.Size {
				return binary.BigEndian.Uint32(sum), true
			}
		}
	}
	return 0, false
}
