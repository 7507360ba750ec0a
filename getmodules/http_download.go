package getmodules

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/stagedfile"
)

// progressInterval is the minimum time between two calls of Progress.
const progressInterval = 100 * time.Millisecond

// download is the download of an archive to a file.
type download struct {
	file     *os.File
	kind     archiveKind
	limit    int64
	progress func(done, total int64)
	// generated is set if a forge generated the archive for this request.
	generated bool
}

// receive writes the body of an answer to the file, from its beginning. Reading an answer that
// is shorter than announced fails. A longer one is truncated by net/http, which damages the
// archive.
func (d *download) receive(answer *httpx.Response) error {
	if err := wantOK(answer); err != nil {
		return err
	}
	if err := d.checkEncoding(answer.Header.Get("Content-Encoding")); err != nil {
		return err
	}
	if answer.ContentLength > d.limit {
		return fmt.Errorf("%w: the archive has %d bytes, more than %d", ErrTooLarge, answer.ContentLength, d.limit)
	}
	if err := stagedfile.Empty(d.file); err != nil {
		return err
	}
	d.generated = isGenerated(answer.Asked)
	out := io.Writer(d.file)
	if d.progress != nil {
		out = &progressWriter{w: d.file, report: d.progress, total: max(answer.ContentLength, 0)}
	}
	n, err := io.Copy(out, io.LimitReader(answer.Body, d.limit+1))
	switch {
	case err != nil:
		return err
	case n > d.limit:
		return fmt.Errorf("%w: the archive has more than %d bytes", ErrTooLarge, d.limit)
	case n == 0:
		return fmt.Errorf("%w: the answer is empty", ErrNotArchive)
	case d.progress != nil:
		d.progress(n, n)
	}
	return nil
}

// checkEncoding refuses encodings, because none was requested. Gzip is allowed for tar.gz: some
// servers declare a tar.gz file as a tar file with an encoding, without changing its bytes.
func (d *download) checkEncoding(encoding string) error {
	encoding = strings.ToLower(encoding)
	isGzip := encoding == "gzip" || encoding == "x-gzip"
	if encoding == "" || encoding == "identity" || isGzip && d.kind == kindTarGzip {
		return nil
	}
	return fmt.Errorf("%w: the server sent it with the encoding %q, which was not asked for", ErrNotArchive, encoding)
}

type progressWriter struct {
	w           io.Writer
	report      func(done, total int64)
	done, total int64
	last        time.Time
}

func (p *progressWriter) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.done += int64(n)
	if now := time.Now(); now.Sub(p.last) >= progressInterval {
		p.last = now
		p.report(p.done, p.total)
	}
	return n, err
}

// isGenerated reports whether one of the URLs is the URL of an archive that a forge generates
// on request. The files in such an archive stay the same, but its bytes change with the forge's
// compressor.
func isGenerated(asked []*url.URL) bool {
	for _, u := range asked {
		if isForgeArchive(u) {
			return true
		}
	}
	return false
}

// isForgeArchive reports whether a URL is an archive of GitHub (tarball, zipball and archive,
// also of GitHub Enterprise Server, and codeload), Gitea and Forgejo (archive), GitLab
// (/-/archive/ and its API) or Bitbucket (get).
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
