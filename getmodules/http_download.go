package getmodules

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/httpx"
)

// fetchHTTPArchive downloads an archive next to the result, and unpacks it.
func (f *Fetcher) fetchHTTPArchive(ctx context.Context, req Request, addr *archiveAddress) (_ *Package, err error) {
	file, err := os.CreateTemp(filepath.Dir(req.Dir), ".archive-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	user, err := f.userFor(ctx, req, addr)
	if err != nil {
		return nil, err
	}
	isForges, err := f.downloadArchive(ctx, req, addr, user, file)
	if err != nil {
		return nil, withCredentials(err, user)
	}
	pkg, err := f.extractVerified(ctx, req, addr, file)
	if err != nil {
		return nil, err
	}
	pkg.Resolved = addr.resolved()
	if isForges {
		pkg.ArchiveSum = ""
	}
	return pkg, nil
}

// wantOK refuses other 2xx statuses than 200, such as partial content.
func wantOK(answer *httpx.Response) error {
	if answer.StatusCode != http.StatusOK {
		return answer.StatusError()
	}
	return nil
}

// downloadArchive reports whether a forge generated the archive for this request. An interrupted transfer
// starts again from the beginning: nothing proves that two parts of an archive are of one version.
func (f *Fetcher) downloadArchive(ctx context.Context, req Request, addr *archiveAddress, user *url.Userinfo, file *os.File) (isForges bool, err error) {
	d := &httpx.Download{File: file, Limit: f.Limits.download()}
	if req.Progress != nil {
		d.Progress = func(done, total int64) { req.Progress(done, max(total, 0)) }
	}
	err = f.get(ctx, addr.url, user, func(answer *httpx.Response) error {
		if err := wantOK(answer); err != nil {
			return err
		}
		if err := checkEncoding(addr.format, answer.Header.Get("Content-Encoding")); err != nil {
			return err
		}
		isForges = isGenerated(answer.Asked)
		err := d.Receive(answer)
		large, isLarge := errors.AsType[*httpx.TooLargeError](err)
		switch {
		case isLarge && large.Size > 0:
			return fmt.Errorf("%w: the archive has %d bytes, more than %d", ErrTooLarge, large.Size, large.Limit)
		case isLarge:
			return fmt.Errorf("%w: the archive has more than %d bytes", ErrTooLarge, large.Limit)
		case err == nil && d.Size() == 0:
			return fmt.Errorf("%w: the answer is empty", ErrNotArchive)
		}
		return err
	})
	return isForges, err
}

// checkEncoding refuses encodings, because none was requested.
func checkEncoding(format *archiveFormat, encoding string) error {
	encoding = strings.ToLower(encoding)
	if encoding == "" || encoding == "identity" || slices.Contains(format.encodings, encoding) {
		return nil
	}
	return fmt.Errorf("%w: the server sent it with the encoding %q, which was not asked for", ErrNotArchive, encoding)
}

// isGenerated reports whether a forge generated the archive on request. Its files stay the same, but its
// bytes change with the forge's compressor.
func isGenerated(asked []*url.URL) bool {
	for _, u := range asked {
		if isForgeArchive(u) {
			return true
		}
	}
	return false
}

// isForgeArchive knows GitHub (tarball, zipball and archive, also of GitHub Enterprise Server, and
// codeload), Gitea and Forgejo (archive), GitLab (/-/archive/ and its API) and Bitbucket (get).
func isForgeArchive(u *url.URL) bool {
	host, path := strings.ToLower(u.Hostname()), u.Path
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case host == "codeload.github.com":
		return true
	case strings.Contains(path, "/-/archive/"), strings.Contains(path, "/repository/archive"):
		return true
	case host == "api.github.com" || strings.HasPrefix(path, "/api/"):
		return strings.Contains(path, "/tarball") || strings.Contains(path, "/zipball") || strings.Contains(path, "/archive/")
	case len(parts) < 4:
		return false
	case host == "bitbucket.org":
		return parts[2] == "get"
	}
	return parts[2] == "archive" || parts[2] == "tarball" || parts[2] == "zipball"
}
