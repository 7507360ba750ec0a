package registryclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/httpapi"
)

// DefaultMaxDownload is how many bytes a hosted package may have by default:
// 512 MiB, as for other packages.
const DefaultMaxDownload = 512 << 20

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
	req, err := r.build(ctx, c.Services, loc.UseCredentials && httpapi.SameOrigin(base, u))
	if err != nil {
		return r.fail(err)
	}
	return c.stream(r, req, w)
}

func (c *Client) stream(r *request, req *http.Request, w io.Writer) error {
	req.Header.Set("Accept", archiveTypes)
	// Otherwise net/http asks for gzip and unpacks it, and the length of what
	// was sent is lost.
	req.Header.Set("Accept-Encoding", "identity")
	answer, body, err := c.api().Open(req)
	if err != nil {
		return r.fail(err)
	}
	if body == nil {
		return r.refusal(answer, "the registry gave this location itself: ask its operator")
	}
	defer func() { _ = body.Close() }() // it was only read
	if err := c.checkArchive(answer, body.Length); err != nil {
		return r.failWith(answer, err)
	}
	if err := c.copy(w, body); err != nil {
		return r.failWith(answer, err)
	}
	return nil
}

func (c *Client) checkArchive(answer *httpapi.Answer, length int64) error {
	switch encoding := answer.Header.Get("Content-Encoding"); {
	case encoding != "" && encoding != "identity":
		return fmt.Errorf("%w: the archive comes in the encoding %q, which was not asked for", ErrInvalidAnswer, encoding)
	case length > c.maxDownload():
		return &httpapi.TooLargeError{Limit: c.maxDownload()}
	case length == 0:
		return fmt.Errorf("%w: the archive is empty", ErrInvalidAnswer)
	}
	return nil
}

// copy checks the length once more, as it may not have been announced. The
// announced length itself is verified by net/http.
func (c *Client) copy(w io.Writer, body io.Reader) error {
	n, err := io.Copy(w, io.LimitReader(body, c.maxDownload()+1))
	switch {
	case err != nil:
		return err
	case n > c.maxDownload():
		return &httpapi.TooLargeError{Limit: c.maxDownload()}
	case n == 0:
		return fmt.Errorf("%w: the archive is empty", ErrInvalidAnswer)
	}
	return nil
}

func (c *Client) maxDownload() int64 {
	if c.MaxDownload > 0 {
		return c.MaxDownload
	}
	return DefaultMaxDownload
}
