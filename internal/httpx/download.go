package httpx

import (
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// progressInterval is the minimum time between two calls of Progress.
	progressInterval = 100 * time.Millisecond
	// minAdvance is the number of bytes by which a transfer must advance so that its retries are
	// counted from zero again. That happens at most maxRounds times.
	minAdvance = 32 << 10
	maxRounds  = 100
	// portion is the number of bytes that are read at a time.
	portion = 128 << 10
)

// Download writes a content that may be too large for memory to a file. It has three methods, of
// which a caller needs one:
//
//   - [Download.Resume] requests the content, and continues an interrupted transfer where it ended.
//     It needs Verify, because only the server says that the parts are of one content.
//   - [Download.Receive] writes the body of one answer, from the beginning. [Client.Do] calls it again
//     for a retry.
//   - [Download.Copy] writes a content from elsewhere.
//
// A Download is for one content. It is not safe for concurrent use.
type Download struct {
	// File gets the content. It is emptied before the content begins.
	File *os.File
	// Writer gets the content if File is nil. It cannot be emptied, so only one content can begin.
	Writer io.Writer
	// Limit is the maximum size of the content in bytes. 0 means no limit. If the content is larger,
	// the error is a [*TooLargeError].
	Limit int64
	// Hash gets the content while it is written. It is reset before the content begins. It may be
	// nil.
	Hash hash.Hash
	// Progress is called from time to time and at the end, with the number of bytes of the content
	// that have been written and the total, or -1 if that is not known. It may be nil.
	Progress func(done, total int64)
	// Verify is called by Resume when the content is complete. It returns an error if the content is
	// not the wanted one.
	Verify func() error

	done, total int64
	reported    time.Time

	// most is the highest value of done so far.
	most int64
	// validator identifies the version of the content on the server. It is "" if the server does not
	// identify it; then the next attempt starts from the beginning.
	validator string
	// resumed reports that the file has parts from several answers.
	resumed bool
}

// Size returns the number of bytes that have been written.
func (d *Download) Size() int64 { return d.done }

// Receive writes the body of an answer, from the beginning of the content. The status must be 200;
// any other is a [*StatusError]. A body that is shorter than announced is an error.
func (d *Download) Receive(answer *Response) error {
	if answer.StatusCode != http.StatusOK {
		return answer.StatusError()
	}
	return d.Copy(answer.Body, answer.ContentLength)
}

// Copy writes a content, from its beginning. size is its announced size, or -1 if it is not known.
func (d *Download) Copy(content io.Reader, size int64) error {
	if err := d.restart(); err != nil {
		return err
	}
	return d.add(content, size)
}

// Resume requests the content and writes it. If a transfer is interrupted and the server identifies
// the version of the content, the next attempt requests only the missing part. Retries are counted
// from zero again whenever the transfer has advanced. If Verify refuses a content from several
// answers, the content is requested once more from its beginning, because the parts may come from two
// versions.
func (d *Download) Resume(c *Client, req *http.Request) error {
	for isFirst := true; ; isFirst = false {
		if err := d.complete(c, req); err != nil {
			return err
		}
		if err := d.Verify(); err == nil || !d.resumed || !isFirst {
			return err
		}
	}
}

// complete requests and writes the content from its beginning. It keeps retrying as long as the
// transfer advances.
func (d *Download) complete(c *Client, req *http.Request) error {
	d.validator, d.most = "", 0
	for round := 1; ; round++ {
		before := d.most
		err := c.Retry.Do(req.Context(), req.URL.Host, func() error { return d.attempt(c, req) })
		if err == nil || c.Retry.attempts() == 1 || req.Context().Err() != nil ||
			!IsTemporary(err) || d.most-before < minAdvance || round == maxRounds {
			return err
		}
	}
}

func (d *Download) attempt(c *Client, req *http.Request) error {
	if d.validator == "" {
		if err := d.restart(); err != nil {
			return err
		}
	}
	req = req.Clone(req.Context())
	if d.done > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.done))
		req.Header.Set("If-Range", d.validator)
	}
	answer, err := c.Send(req)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	switch isPart := answer.StatusCode == http.StatusPartialContent; {
	case isPart && d.done > 0 && startsAt(answer.Header.Get("Content-Range"), d.done):
		d.resumed = true
		return d.add(answer.Body, answer.ContentLength)
	case isPart, answer.StatusCode == http.StatusRequestedRangeNotSatisfiable && d.done > 0:
		d.validator = ""
		return &TemporaryError{Err: errors.New("the server sent a different part of the file than requested")}
	}
	if answer.StatusCode == http.StatusOK {
		d.validator = validator(answer.Header)
	}
	return d.Receive(answer)
}

func (d *Download) restart() error {
	d.done, d.resumed = 0, false
	if d.Hash != nil {
		d.Hash.Reset()
	}
	if d.File == nil {
		return nil
	}
	return empty(d.File)
}

// add appends size bytes, or an unknown number of bytes if size is -1.
func (d *Download) add(content io.Reader, size int64) error {
	d.total = -1
	if size >= 0 {
		d.total = d.done + size
	}
	if d.Limit > 0 {
		if d.total > d.Limit {
			return &TooLargeError{Limit: d.Limit, Size: d.total}
		}
		content = io.LimitReader(content, d.Limit-d.done+1)
	}
	atOnce := int64(portion)
	if size >= 0 {
		atOnce = min(size+1, portion) // one more, to reach the end
	}
	if _, err := io.CopyBuffer(writerFunc(d.write), content, make([]byte, atOnce)); err != nil {
		return err
	}
	if d.Limit > 0 && d.done > d.Limit {
		return &TooLargeError{Limit: d.Limit}
	}
	if d.Progress != nil {
		d.Progress(d.done, d.done)
	}
	return nil
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func (d *Download) write(b []byte) (n int, err error) {
	if d.File != nil {
		n, err = d.File.Write(b)
	} else {
		n, err = d.Writer.Write(b)
	}
	if d.Hash != nil {
		d.Hash.Write(b[:n])
	}
	d.done += int64(n)
	d.most = max(d.most, d.done)
	if d.Progress != nil && time.Since(d.reported) >= progressInterval {
		d.reported = time.Now()
		d.Progress(d.done, d.total)
	}
	return n, err
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
// returns "" if no header does.
func validator(header http.Header) string {
	if etag := header.Get("Etag"); etag != "" && !strings.HasPrefix(etag, "W/") {
		return etag
	}
	return header.Get("Last-Modified")
}

// empty makes a file empty and seeks to its beginning. It does not truncate a file that is already
// empty: if a file was ever truncated to zero, ext4 starts to write it to the disk when it is
// closed, and removing it waits for that.
func empty(file *os.File) error {
	info, err := file.Stat()
	if err == nil && info.Size() > 0 {
		err = file.Truncate(0)
	}
	if err != nil {
		return err
	}
	_, err = file.Seek(0, io.SeekStart)
	return err
}
