package registryclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/minrate"
)

const (
	// DefaultMaxDownload is how many bytes a hosted package may have by default:
	// 512 MiB, as for other packages.
	DefaultMaxDownload = 512 << 20
	// downloadTimeout bounds a whole download, for servers that never end it.
	downloadTimeout = time.Hour
	// stallTimeout is how long a download may stay without a byte, and the window
	// over which it must keep to the minimum rate.
	stallTimeout = time.Minute
)

// archiveTypes are the media types of the formats that stock tools tell apart
// by their first bytes.
const archiveTypes = "application/zip, application/gzip, application/x-tar, application/x-xz, application/x-bzip2, application/octet-stream;q=0.9, */*;q=0.1"

// Download writes the archive of a package that the registry hosts to w, as the
// server stores it, without a look at its format. The credentials for the
// registry are sent if the location asks for them and has the origin (scheme,
// host and port) of the registry's service; not elsewhere, and not after a
// redirect to elsewhere.
//
// Until the first byte the request is repeated as others are, but not from
// there on: an error then leaves w with a part of the archive. An error is a
// *[RequestError]. It is also one if the archive is empty, longer than
// MaxDownload, or not of the length that was announced, or if it was not
// announced how its end can be told.
func (c *Client) Download(ctx context.Context, pkg addrs.ModuleRegistryPackage, loc Location, w io.Writer) error {
	about := release{pkg: pkg}
	base, err := c.service(ctx, about)
	if err != nil {
		return err
	}
	u, err := loc.Source.Package.URL()
	if err == nil && !loc.Direct {
		err = errors.New("registryclient: the registry does not host this package")
	}
	if err == nil {
		err = checkDirect(base, u)
	}
	if err != nil {
		return failBefore(about, err)
	}
	r := &request{release: about, url: u}
	req, err := r.build(ctx, c.Services, loc.UseCredentials && httpx.SameOrigin(base, u))
	if err != nil {
		return r.fail(err)
	}
	return c.stream(r, req, w)
}

// stream copies the body of the answer to w. An error of copying ends the download
// and is not retried, because w has a part of the archive already.
func (c *Client) stream(r *request, req *http.Request, w io.Writer) error {
	req.Header.Set("Accept", archiveTypes)
	// Otherwise net/http asks for gzip and unpacks it, and the length of what
	// was sent is lost.
	req.Header.Set("Accept-Encoding", "identity")
	client := c.httpClient()
	client.AttemptTimeout, client.TotalTimeout = 0, downloadTimeout
	client.Floor = minrate.Floor{Window: stallTimeout}
	const missing = "the registry gave this location itself: ask its operator"
	var copyErr error
	err := client.Do(req, func(resp *httpx.Response) error {
		if resp.StatusCode != http.StatusOK {
			return resp.StatusError()
		}
		copyErr = c.copyArchive(w, resp)
		return nil
	})
	if status, ok := errors.AsType[*httpx.StatusError](err); ok {
		return r.refusal(status.Answer, missing)
	}
	if err != nil {
		return r.fail(err)
	}
	if copyErr == nil {
		return nil
	}
	if err := req.Context().Err(); err != nil {
		copyErr = err // the cause, rather than its consequence
	}
	failure := r.fail(copyErr)
	failure.StatusCode = http.StatusOK
	return failure
}

// copyArchive checks the length twice, as it may not have been announced. The
// announced length itself is verified by net/http.
func (c *Client) copyArchive(w io.Writer, resp *httpx.Response) error {
	limit := cmp.Or(max(c.MaxDownload, 0), DefaultMaxDownload)
	switch encoding := resp.Header.Get("Content-Encoding"); {
	case !resp.HasKnownEnd():
		return fmt.Errorf("%w: the server does not say how long the archive is", ErrInvalidAnswer)
	case encoding != "" && encoding != "identity":
		return fmt.Errorf("%w: the archive has the encoding %q, which was not asked for", ErrInvalidAnswer, encoding)
	case resp.ContentLength > limit:
		return &httpx.TooLargeError{Limit: limit}
	}
	n, err := io.Copy(w, io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return err
	case n > limit:
		return &httpx.TooLargeError{Limit: limit}
	case n == 0:
		return fmt.Errorf("%w: the archive is empty", ErrInvalidAnswer)
	}
	return nil
}
