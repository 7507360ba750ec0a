package getproviders

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/stagedfile"
)

const (
	// progressInterval is the minimum time between two calls of progress.
	progressInterval = 100 * time.Millisecond
	// minAdvance is the number of bytes by which a transfer must advance so that its retries are
	// counted from zero again. That happens at most maxRounds times.
	minAdvance = 32 << 10
	maxRounds  = 100
	// portion is the number of bytes that are read at a time.
	portion = 128 << 10
)

// Download implements [Package].
func (p *directPackage) Download(ctx context.Context, file *os.File, progress func(done, total int64)) error {
	t := &transfer{
		client: p.client(), url: p.found.URL, file: file, sum: sha256.New(), progress: progress,
		limit: cmp.Or(p.MaxArchive, defaultMaxArchive), size: p.found.Packages[p.found.Platform].Size,
	}
	if err := t.run(ctx, p.Retries >= 0); err != nil {
		return fmt.Errorf("%s: %w", p.Location(), err)
	}
	got := fmt.Sprintf("%x", t.sum.Sum(nil))
	if got != p.found.Sum && t.resumed {
		// The parts may come from two different files.
		t.forget()
		t.most = 0
		if err := t.run(ctx, p.Retries >= 0); err != nil {
			return fmt.Errorf("%s: %w", p.Location(), err)
		}
		got = fmt.Sprintf("%x", t.sum.Sum(nil))
	}
	if got != p.found.Sum {
		return &MismatchError{Location: p.Location(), Want: []string{string(p.archive)}, Got: "zh:" + got}
	}
	return nil
}

// transfer is the transfer of an archive to a file. It continues an interrupted transfer if the
// server confirms that the file is still the same.
type transfer struct {
	client *httpx.Client
	url    string
	file   *os.File
	sum    hash.Hash
	limit  int64
	size   int64 // the announced size; 0 if it is not known

	// done is the number of bytes in the file, and most is the highest value of done so far.
	done, most int64
	// validator identifies the version of the file on the server. It is "" if the server does not
	// identify it.
	validator string
	resumed   bool

	progress func(done, total int64)
	total    int64
	told     time.Time
}

// run transfers the archive. It keeps retrying as long as the transfer advances.
func (t *transfer) run(ctx context.Context, retry bool) error {
	req, err := newRequest(ctx, t.url)
	if err != nil {
		return err
	}
	if err := t.restart(); err != nil {
		return err
	}
	for round := 1; ; round++ {
		before := t.most
		err := t.client.Retry.Do(ctx, req.URL.Host, func() error { return t.attempt(req) })
		if err == nil {
			return t.finish()
		}
		if !retry || ctx.Err() != nil || !httpx.IsTemporary(err) || t.most-before < minAdvance || round == maxRounds {
			return err
		}
	}
}

// attempt requests the missing part and writes the answer to the file.
func (t *transfer) attempt(req *http.Request) error {
	if t.validator == "" {
		if err := t.restart(); err != nil {
			return err
		}
	}
	req = req.Clone(req.Context())
	if t.done > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", t.done))
		req.Header.Set("If-Range", t.validator)
	}
	answer, err := t.client.Send(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if err := t.begin(answer); err != nil {
		return err
	}
	room := t.limit - t.done
	t.total = -1
	if answer.ContentLength >= 0 {
		t.total = t.done + answer.ContentLength
	}
	if answer.ContentLength > room {
		return &httpx.TooLargeError{Limit: t.limit}
	}
	n, err := io.CopyBuffer(t, io.LimitReader(answer.Body, room+1), make([]byte, portion))
	if err == nil && n > room {
		return &httpx.TooLargeError{Limit: t.limit}
	}
	return err
}

// begin prepares the file for the body of an answer.
func (t *transfer) begin(answer *httpx.Response) error {
	switch isPart := answer.StatusCode == http.StatusPartialContent; {
	case isPart && t.done > 0 && startsAt(answer.Header.Get("Content-Range"), t.done):
		t.resumed = true
		return nil
	case answer.StatusCode == http.StatusOK:
		t.validator = validator(answer.Header)
		return t.restart()
	case isPart, answer.StatusCode == http.StatusRequestedRangeNotSatisfiable && t.done > 0:
		t.forget()
		return &httpx.TemporaryError{Err: errors.New("the server sent a different part of the file than requested")}
	}
	return answer.StatusError()
}

// startsAt reports whether a Content-Range such as "bytes 5-9/10" starts at an offset, in this
// case 5.
func startsAt(contentRange string, offset int64) bool {
	rest, ok := strings.CutPrefix(contentRange, "bytes ")
	first, _, found := strings.Cut(rest, "-")
	start, err := strconv.ParseInt(first, 10, 64)
	return ok && found && err == nil && start == offset
}

// validator returns the header that identifies a version of a file byte by byte, for If-Range. It
// returns "" if there is none.
func validator(header http.Header) string {
	if etag := header.Get("Etag"); etag != "" && !strings.HasPrefix(etag, "W/") {
		return etag
	}
	return header.Get("Last-Modified")
}

// forget makes the next attempt start from the beginning.
func (t *transfer) forget() { t.validator, t.resumed = "", false }

// restart empties the file.
func (t *transfer) restart() error {
	t.done = 0
	t.sum.Reset()
	return stagedfile.Empty(t.file)
}

// Write appends bytes to the file.
func (t *transfer) Write(b []byte) (int, error) {
	n, err := t.file.Write(b)
	t.sum.Write(b[:n])
	t.done += int64(n)
	t.most = max(t.most, t.done)
	if t.progress != nil && time.Since(t.told) >= progressInterval {
		t.told = time.Now()
		t.progress(t.done, t.total)
	}
	return n, err
}

// finish checks the size and reports it to progress.
func (t *transfer) finish() error {
	if t.size > 0 && t.done != t.size {
		return fmt.Errorf("the archive has %d bytes, and %d were announced", t.done, t.size)
	}
	if t.progress != nil {
		t.progress(t.done, t.done)
	}
	return nil
}
