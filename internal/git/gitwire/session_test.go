package gitwire_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

// pipes is a connection whose ends are pipes or canned text.
type pipes struct {
	io.Reader
	io.Writer
	wait func() error
	end  func()
	// closed and killed are the numbers of calls.
	closed, killed int
}

func (p *pipes) Wait() error {
	if p.wait == nil {
		return nil
	}
	return p.wait()
}

func (p *pipes) Close() { p.closed++; p.stop() }
func (p *pipes) Kill()  { p.killed++; p.stop() }

func (p *pipes) stop() {
	if p.end != nil {
		p.end()
	}
}

var patient = httpx.Floor{Window: time.Hour}

func session(connect func(context.Context) (*pipes, error)) (*gitwire.Session, *int) {
	connections := 0
	return &gitwire.Session{Floor: patient, Connect: func(ctx context.Context) (gitwire.Conn, error) {
		connections++
		return connect(ctx)
	}}, &connections
}

// TestSession lists refs and fetches from a real git-upload-pack, over one connection.
func TestSession(t *testing.T) {
	t.Parallel()
	_, git := gitServer(t)
	tree := git("", "mktree")
	commit := git("", "-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", "-m", "x", tree)
	git("", "update-ref", "refs/heads/main", commit)
	dir := git("", "rev-parse", "--absolute-git-dir")
	s, connections := session(func(ctx context.Context) (*pipes, error) {
		cmd := exec.CommandContext(ctx, "git-upload-pack", dir)
		cmd.Env = append(os.Environ(), "GIT_PROTOCOL=version=2", "GIT_CONFIG_NOSYSTEM=1", "HOME="+t.TempDir())
		in, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		return &pipes{Reader: out, Writer: in, wait: cmd.Wait, end: func() { in.Close(); _ = cmd.Wait() }}, cmd.Start()
	})
	c := &gitwire.Client{Transport: s}
	for range 2 {
		refs, err := c.Refs(t.Context(), "refs/heads/")
		if err != nil || len(refs) != 1 || refs["refs/heads/main"].ID != commit {
			t.Fatalf("Refs = %v, %v; want %s", refs, err, commit)
		}
		if _, err := fetch(t, c, commit); err != nil {
			t.Fatal(err)
		}
	}
	features, err := c.Features(t.Context(), "fetch")
	if err != nil || len(features) == 0 || *connections != 1 {
		t.Errorf("Features = %q, %v, by %d connections; want some, by 1", features, err, *connections)
	}
	// An answer that is not read to its end costs the connection.
	pack, err := c.Fetch(t.Context(), gitwire.Fetch{Want: []string{commit}, Shallow: true, Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	pack.Close()
	if _, err := c.Refs(t.Context(), "refs/heads/"); err != nil || *connections != 2 {
		t.Errorf("Refs after a fetch that was not read = %v, by %d connections; want 2", err, *connections)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestSessionAnswers(t *testing.T) {
	t.Parallel()
	version := lines("version 2", "ls-refs=unborn", "0000")
	failed := errors.New("permission denied")
	for name, tt := range map[string]struct {
		advert, answer string
		wait           error
		want           error
	}{
		"good":                     {version, lines(id+" HEAD", "0000"), nil, nil},
		"more after the end":       {version, lines(id+" HEAD", "0000", id+" x"), nil, gitwire.ErrMalformed},
		"old version":              {lines(id+" HEAD\x00side-band", "0000"), "", nil, gitwire.ErrOldProtocol},
		"version 1":                {lines("version 1", "0000"), "", nil, gitwire.ErrOldProtocol},
		"nothing":                  {"", "", nil, io.ErrUnexpectedEOF},
		"nothing, with a reason":   {"", "", failed, failed},
		"no answer":                {version, "", nil, io.ErrUnexpectedEOF},
		"no answer, with a reason": {version, "", failed, failed},
		"cut":                      {version, "00", failed, failed},
		"cut in a line":            {version, "0032" + id, failed, failed},
		"cut advertisement":        {lines("version 2"), "", failed, failed},
		"text":                     {"Welcome to the forge!", "", nil, gitwire.ErrMalformed},
		"text after it":            {version, "bye", nil, io.ErrUnexpectedEOF},
		"long advertisement":       {lines("version 2") + strings.Repeat(lines(strings.Repeat("x", 60_000)), 3) + "0000", "", nil, errAny},
		"error":                    {version, lines("ERR no"), nil, errAny},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &pipes{Reader: io.MultiReader(strings.NewReader(tt.advert), strings.NewReader(tt.answer)), Writer: io.Discard, wait: func() error { return tt.wait }}
			s, _ := session(func(context.Context) (*pipes, error) { return p, nil })
			_, err := (&gitwire.Client{Transport: s}).Refs(t.Context(), "HEAD")
			wantError(t, "Refs", err, tt.want)
			if tt.want != nil && p.closed != 1 {
				t.Errorf("the connection was closed %d times, want once", p.closed)
			}
		})
	}
}

// TestSessionEnds ends connections that nothing comes from: killed after a time, and closed when the
// caller's context ends.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		silent := func() *pipes {
			r, w := io.Pipe()
			return &pipes{Reader: r, Writer: io.Discard, end: func() { w.Close() }}
		}
		p := silent()
		s, _ := session(func(context.Context) (*pipes, error) { return p, nil })
		_, err := (&gitwire.Client{Transport: s}).Refs(t.Context(), "HEAD")
		if _, ok := errors.AsType[*httpx.StalledError](err); !ok || p.killed != 1 {
			t.Errorf("Refs from a silent server = %v, want a StalledError", err)
		}
		p = silent()
		s, _ = session(func(context.Context) (*pipes, error) { return p, nil })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = (&gitwire.Client{Transport: s}).Refs(ctx, "HEAD")
		if !errors.Is(err, context.DeadlineExceeded) || p.killed != 0 || p.closed == 0 {
			t.Errorf("Refs after the end of the context = %v, want its error", err)
		}
	})
}
