package getmodules

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/net/httpx"
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
		return nil, err
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
	d := &httpx.Download{File: file, Limit: f.Limits.download(), Disk: packagelimits.DiskOf(ctx)}
	if req.Progress != nil {
		d.Progress = func(done, total int64) { req.Progress(done, max(total, 0)) }
	}
	err = f.get(ctx, addr.url, user, func(answer *httpx.Response) error {
		if err := wantOK(answer); err != nil {
			return err
		}
		content, size, err := decoded(addr.format, answer)
		if err != nil {
			return err
		}
		isForges = isGenerated(answer.Asked)
		err = d.Copy(content, size)
		large, isLarge := errors.AsType[*httpx.TooLargeError](err)
		switch {
		case isLarge:
			return &LimitError{Limit: packagelimits.OfDownload, Size: large.Size, Max: large.Limit}
		case err == nil && d.Size() == 0:
			return fmt.Errorf("%w: the answer is empty", ErrNotArchive)
		}
		return err
	})
	return isForges, err
}

// maxEncodedHead is in bytes. The beginning of a gzip file with a long comment fits.
const maxEncodedHead = 64 << 10

// decoded returns the archive in an answer, and its size or -1. No encoding is requested, but some servers
// store archives compressed again, and some declare the compression of a .tar.gz as that of the transfer: if
// what is decoded has not the format of the address, the archive is what was sent.
func decoded(format *archiveFormat, answer *httpx.Response) (content io.Reader, size int64, err error) {
	switch encoding := strings.ToLower(answer.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
		return answer.Body, answer.ContentLength, nil
	case "gzip", "x-gzip":
	default:
		return nil, 0, fmt.Errorf("%w: the server sent it with the encoding %q, which was not asked for", ErrNotArchive, encoding)
	}
	sent := bufio.NewReaderSize(answer.Body, maxEncodedHead)
	head, err := sent.Peek(maxEncodedHead)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	if formatNamed("tar.gz") == format && !format.begins(beginningOf(head)) {
		return sent, answer.ContentLength, nil
	}
	plain, err := gzip.NewReader(sent)
	if err != nil {
		return nil, 0, notEncoded(err)
	}
	return gzipBody{plain}, -1, nil
}

// beginningOf decodes the first bytes of a gzip file, of which head is the beginning.
func beginningOf(head []byte) []byte {
	plain, err := gzip.NewReader(bytes.NewReader(head))
	if err != nil {
		return nil
	}
	beginning, _ := io.ReadAll(io.LimitReader(plain, 512)) // up to the end of head
	return beginning
}

func notEncoded(err error) error {
	return fmt.Errorf("%w: the server sent it with the encoding gzip, which cannot be decoded: %w", ErrNotArchive, err)
}

// gzipBody has the errors of the transfer unchanged, after which it is repeated.
type gzipBody struct{ plain io.Reader }

func (b gzipBody) Read(p []byte) (int, error) {
	n, err := b.plain.Read(p)
	corrupt := flate.CorruptInputError(0)
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt) {
		err = notEncoded(err)
	}
	return n, err
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
