package registryclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

const (
	// DefaultMaxDownload is the default maximum size of hosted packages in bytes, as for other packages: 2 GiB.
	DefaultMaxDownload = packagelimits.DownloadBytes
	// downloadTimeout limits a download that the server never ends.
	downloadTimeout = time.Hour
	// stallTimeout is the window in which a download must reach the minimum rate.
	stallTimeout = time.Minute
)

// archiveTypes are the media types of the formats that stock tools detect by their first bytes.
const archiveTypes = "application/zip, application/gzip, application/x-tar, application/x-xz, application/x-bzip2, application/octet-stream;q=0.9, */*;q=0.1"

// Download writes the archive of a package that the registry hosts to w, without checking the format. If
// the location requires the registry's credentials, they are sent to the origin (scheme, host and port) of
// its service, but not after a redirect to another; otherwise Services is not used and may be nil. A
// location on this machine needs an Origin (or else a host of pkg) on this machine.
//
// The request is retried until the first byte of the archive; a later error leaves a part of it in w. The
// error is a *[RequestError]: also if the archive is empty or not as long as announced, or is sent without a length or
// chunks, because its truncation would not be noticed. If the archive is longer than MaxDownload, it wraps a
// *getmodules.LimitError.
func (c *Client) Download(ctx context.Context, pkg addrs.ModuleRegistryPackage, loc Location, w io.Writer) error {
	about := subject{module: pkg}
	at, err := loc.Source.Package.Location()
	if err == nil && !loc.Direct {
		err = errors.New("registryclient: the registry does not host this package")
	}
	if err != nil {
		return failBefore(about, err)
	}
	base, err := loc.answeredBy(pkg.Host)
	if loc.UseCredentials {
		base, err = c.service(ctx, about)
	}
	if err == nil {
		err = checkDirect(base, at.URL())
	}
	if err != nil {
		return asRequestError(about, err)
	}
	r := &request{subject: about, url: at.URL()}
	ctx = httpx.PointedToName(ctx, base, r.url)
	login := r.login(ctx, c.Services, archiveTypes, loc.UseCredentials && httpx.SameOrigin(base, r.url))
	return login.Do(func(req *http.Request) error { return c.stream(r, req, w) })
}

func (l Location) answeredBy(host addrs.Hostname) (*url.URL, error) {
	if l.Origin == "" {
		return &url.URL{Scheme: "https", Host: string(host)}, nil
	}
	return url.Parse(l.Origin)
}

// stream copies the body of the answer to w. An error in between is not retried, because w has a part.
func (c *Client) stream(r *request, req *http.Request, w io.Writer) error {
	// Without this header, net/http unpacks gzip, and the length of the archive is lost.
	req.Header.Set("Accept-Encoding", "identity")
	client := c.httpClient()
	client.AttemptTimeout, client.TotalTimeout = 0, downloadTimeout
	client.Floor = httpx.Floor{Window: stallTimeout}
	const missing = "the registry itself gave this location"
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
		copyErr = err // the cause rather than its consequence
	}
	failure := r.fail(copyErr)
	failure.StatusCode = http.StatusOK
	return failure
}

// copyArchive copies the body to w. net/http checks an announced length.
func (c *Client) copyArchive(w io.Writer, resp *httpx.Response) error {
	switch encoding := resp.Header.Get("Content-Encoding"); {
	case !resp.HasKnownEnd():
		return fmt.Errorf("%w: the server does not say how long the archive is", ErrInvalidAnswer)
	case encoding != "" && encoding != "identity":
		return fmt.Errorf("%w: the archive has the encoding %q, which was not requested", ErrInvalidAnswer, encoding)
	}
	d := &httpx.Download{Writer: w, Limit: cmp.Or(max(c.MaxDownload, 0), DefaultMaxDownload), Disk: packagelimits.DiskOf(resp.Request.Context())}
	err := d.Receive(resp)
	if large, ok := errors.AsType[*httpx.TooLargeError](err); ok {
		return &packagelimits.Error{Limit: packagelimits.OfDownload, Size: large.Size, Max: large.Limit}
	}
	if err != nil {
		return err
	}
	if d.Size() == 0 {
		return fmt.Errorf("%w: the archive is empty", ErrInvalidAnswer)
	}
	return nil
}
