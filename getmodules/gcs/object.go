package gcs

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/cotterpin/cotter/internal/httpx"
)

// Get writes an object to a file, from its beginning. An answer that is shorter
// than it says fails in reading.
func (b *bucket) Get(ctx context.Context, name string, file *os.File) error {
	query := url.Values{"alt": {"media"}}
	if b.addr.generation != "" {
		query.Set("generation", b.addr.generation)
	}
	path := url.PathEscape(b.addr.bucket) + "/o/" + url.PathEscape(name) + "?" + query.Encode()
	return b.send(ctx, path, func(answer *httpx.Response) error {
		if err := file.Truncate(0); err != nil {
			return err
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
		if _, err := io.Copy(io.MultiWriter(file, sum), answer.Body); err != nil {
			return err
		}
		if want, known := checksumOf(answer.Response); known && want != sum.Sum32() {
			return &httpx.TemporaryError{Err: errChecksum}
		}
		return nil
	})
}

// checksumOf is the CRC32C of what the object has stored, which is what came,
// unless that was unpacked on the way.
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
