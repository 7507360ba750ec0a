package getmodules

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

const maxSums = 1 << 20

var errChecksumOfDirectory = errors.New("the checksum argument is for archives; this address is that of a directory or page")

// checksum is that of an archive. Weak algorithms are supported as in stock tools; the hashes of a lock do
// not depend on them.
type checksum struct {
	new func() hash.Hash
	sum []byte
}

// verifyChecksum compares an archive with the checksum argument of its address.
func (f *Fetcher) verifyChecksum(ctx context.Context, req Request, addr *archiveAddress, file *os.File) error {
	if addr.checksum == "" {
		return nil
	}
	want, err := f.findChecksum(ctx, req, addr)
	if err != nil {
		return fmt.Errorf("checksum argument: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	h := want.new()
	if _, err := io.Copy(h, readerAt(ctx, file, 0, info.Size())); err != nil {
		return err
	}
	if got := h.Sum(nil); string(got) != string(want.sum) {
		return fmt.Errorf("%w: expected %x, got %x", ErrChecksum, want.sum, got)
	}
	return nil
}

func (f *Fetcher) findChecksum(ctx context.Context, req Request, addr *archiveAddress) (checksum, error) {
	location, isFile := strings.CutPrefix(addr.checksum, "file:")
	if !isFile {
		return parseChecksum(addr.checksum)
	}
	u, err := url.Parse(location)
	if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" {
		return checksum{}, errors.New("a file of checksums is written file:https://host/path")
	}
	if req.FromServer {
		if err := checkPointedTo(ctx, u.Scheme, u, originOf(req)); err != nil {
			return checksum{}, err
		}
	}
	if addr.url.Scheme == "https" && u.Scheme != "https" {
		return checksum{}, fmt.Errorf("%w: the archive is fetched by https, so its checksums must be too", ErrRefusedLocation)
	}
	var text []byte
	user := u.User
	u.User, u.Fragment = nil, ""
	err = f.get(ctx, u, user, func(answer *httpx.Response) (err error) {
		if err := wantOK(answer); err != nil {
			return err
		}
		text, err = answer.ReadAll(maxSums)
		return err
	})
	if err != nil {
		return checksum{}, fmt.Errorf("the file of checksums at %q: %w", addrs.Redact(u.String()), err)
	}
	return checksumInFile(string(text), path.Base(addr.url.Path))
}

// parseChecksum parses "type:hex", or hex digits, whose number determines the type.
func parseChecksum(text string) (checksum, error) {
	kind, digits, found := strings.Cut(text, ":")
	if !found {
		kind, digits = "", text
	}
	sum, err := hex.DecodeString(digits)
	if err != nil {
		return checksum{}, fmt.Errorf("%.200q is not hexadecimal", digits)
	}
	for name, algorithm := range checksumAlgorithms() {
		if (kind == "" || kind == name) && algorithm().Size() == len(sum) {
			return checksum{algorithm, sum}, nil
		}
	}
	return checksum{}, fmt.Errorf("%.200q is not an md5, sha1, sha256 or sha512 sum", text)
}

func checksumAlgorithms() map[string]func() hash.Hash {
	return map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}
}

// checksumInFile finds a file in a list of the GNU tools ("hex  name", with "*" before the name of a binary
// file) or of BSD ("SHA256 (name) = hex"). A single word is the checksum itself.
func checksumInFile(text, name string) (checksum, error) {
	if words := strings.Fields(text); len(words) == 1 {
		return parseChecksum(words[0])
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if digits, file, found := strings.Cut(line, " "); found && sameFile(strings.TrimSpace(file), name) {
			return parseChecksum(digits)
		}
		algorithm, rest, found := strings.Cut(line, " (")
		file, digits, found2 := strings.Cut(rest, ") = ")
		if found && found2 && sameFile(file, name) {
			return parseChecksum(strings.ToLower(algorithm) + ":" + digits)
		}
	}
	return checksum{}, fmt.Errorf("the file of checksums has none for %q", name)
}

func sameFile(listed, name string) bool {
	return strings.TrimPrefix(strings.TrimPrefix(listed, "*"), "./") == name
}
