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

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
)

const (
	progressInterval = 100 * time.Millisecond
	// minAdvance is the number of bytes after which the retries of a transfer are counted anew, at most
	// maxRounds times.
	minAdvance = 32 << 10
	maxRounds  = 100
	// portion is read at a time, in bytes.
	portion = 128 << 10
)

// Download writes a content that may be too large for memory to a file. It is for one content, and not safe
// for concurrent use. A caller needs one of three methods: [Download.Resume] requests the content, and
// continues an interrupted transfer; it needs Verify, because only the server says that the parts are of
// one content. [Download.Receive] writes one answer; [Client.Do] calls it again for a retry.
// [Download.Copy] writes a content from elsewhere.
type Download struct {
	// File is emptied before the content begins.
	File *os.File
	// Writer is used if File is nil. It cannot be emptied, so only one content can begin.
	Writer io.Writer
	// Limit is in bytes; 0 means none. A larger content is a [*TooLargeError].
	Limit int64
	// Disk is that of the run, for which the content counts. It may be nil.
	Disk *packagelimits.Disk
	// Hash gets the content, and is reset before it begins. It may be nil.
	Hash hash.Hash
	// Progress gets the bytes so far and the total, or -1 if that is not known. It may be nil.
	Progress func(done, total int64)
	// Verify is called by Resume, and returns an error if the complete content is not the wanted one.
	Verify func() error

	done, total int64
	reported    time.Time

	most int64
	// validator identifies the version on the server. Without one, "", the next attempt starts from the
	// beginning.
	validator string
	// resumed is set if the file has parts of several answers.
	resumed bool
}

func (d *Download) Size() int64 { return d.done }

// Receive writes an answer from the beginning. Another status than 200 is a [*StatusError], and a body that
// is shorter than announced an error.
func (d *Download) Receive(answer *Response) error {
	if answer.StatusCode != http.StatusOK {
		return answer.StatusError()
	}
	return d.Copy(answer.Body, answer.ContentLength)
}

// Copy writes a content with an announced size, or -1.
func (d *Download) Copy(content io.Reader, size int64) error {
	if err := d.restart(); err != nil {
		return err
	}
	return d.add(content, size)
}

// Resume requests only the missing part after an interruption, if the server identifies the version.
// Retries are counted anew whenever the transfer has advanced. If Verify refuses a content of several
// answers, which may be of two versions, it is requested once more from its beginning.
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

// complete retries as long as the transfer advances.
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

// add appends size bytes, or all if size is -1.
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
	if err := d.Disk.Take(int64(len(b))); err != nil {
		return 0, err
	}
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

// startsAt reports whether a Content-Range such as "bytes 5-9/10" starts at an offset, here 5.
func startsAt(contentRange string, offset int64) bool {
	rest, ok := strings.CutPrefix(contentRange, "bytes ")
	first, _, found := strings.Cut(rest, "-")
	start, err := strconv.ParseInt(first, 10, 64)
	return ok && found && err == nil && start == offset
}

// validator returns the header that identifies a version byte by byte, for If-Range, or "".
func validator(header http.Header) string {
	if etag := header.Get("Etag"); etag != "" && !strings.HasPrefix(etag, "W/") {
		return etag
	}
	return header.Get("Last-Modified")
}

// empty does not truncate an empty file: ext4 would start to write it to the disk when it is closed, and
// removing it would wait for that.
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
