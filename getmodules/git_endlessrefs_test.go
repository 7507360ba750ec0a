package getmodules_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/testenv"
)

// A server that lists refs without end is left at the limit of refs, by each client. The git program
// is not asked after the native client has reached the limit, because git has none.
func TestEndlessRefs(t *testing.T) {
	t.Parallel()
	const maxSent = 256 << 20 // what a client reads, and what its connection buffers
	var sent, byGit atomic.Int64
	packet := func(w io.Writer, line string) error {
		n, err := fmt.Fprintf(w, "%04x%s", len(line)+4, line)
		sent.Add(int64(n))
		return err
	}
	// Formatting each ref takes longer than reading it, so only the number of the block is replaced.
	block := []byte("BLOCK")
	var refs []byte
	for i := range 4096 {
		line := fmt.Sprintf("%040x refs/tags/v%s.%04d\n", i+1, block, i)
		refs = fmt.Appendf(refs, "%04x%s", len(line)+4, line)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.UserAgent(), "cotter") {
			byGit.Add(1)
		}
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			_ = packet(w, "# service=git-upload-pack\n")
			fmt.Fprint(w, "0000")
			for _, line := range []string{"version 2\n", "agent=git/2.39.5\n", "ls-refs\n", "fetch=shallow\n", "object-format=sha1\n"} {
				_ = packet(w, line)
			}
			fmt.Fprint(w, "0000")
			return
		}
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		for i := 0; sent.Load() < maxSent; i++ {
			n, err := w.Write(bytes.ReplaceAll(refs, block, fmt.Appendf(nil, "%05d", i)))
			sent.Add(int64(n))
			if err != nil {
				return // the client has closed the connection
			}
		}
	}))
	t.Cleanup(s.Close)
	for name, alwaysGit := range testenv.SampleMap(map[string]bool{"native": false, "git": true}, "native") {
		for _, revisions := range []bool{false, true} {
			sent.Store(0)
			byGit.Store(0)
			f := newGitFetcher(t)
			f.AlwaysGit = alwaysGit
			address := "git::" + s.URL + "/net.git"
			var err error
			if revisions {
				_, _, err = fetchGit(t, f, getmodules.Request{Package: addrs.ParseModulePackage(address + "?ref=v1.0.0")})
			} else {
				_, err = f.Tags(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage(address)})
			}
			if !errors.Is(err, getmodules.ErrTooLarge) {
				t.Errorf("%s: the error is %v, want ErrTooLarge", name, err)
			}
			if sent.Load() >= maxSent {
				t.Errorf("%s: the client has read %d bytes", name, sent.Load())
			}
			if asked := byGit.Load() > 0; asked != alwaysGit {
				t.Errorf("%s: git sent %d requests", name, byGit.Load())
			}
		}
	}
}
