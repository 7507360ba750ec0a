package inprocess_test

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cotterpin/cotter/internal/git/inprocess"
	"github.com/cotterpin/cotter/internal/httpx"
)

// TestSSHSilentServer logs in to a server that accepts connections and sends nothing. The attempt ends after a time,
// or with the caller's context.
func TestSSHSilentServer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".ssh", "known_hosts"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	at := &url.URL{Scheme: "ssh", Host: listener.Addr().String(), User: url.User("git"), Path: "/net.git"}
	login := inprocess.SSH{Home: home, Floor: httpx.Floor{Window: 50 * time.Millisecond}}
	if _, err = login.Dial(t.Context(), at); !errors.As(err, new(*httpx.StalledError)) {
		t.Errorf("Dial of a silent server = %v, want a StalledError", err)
	}
	_, _ = listener.Accept()
	login.Floor.Window = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = listener.Accept()
		cancel()
	}()
	if _, err = login.Dial(ctx, at); !errors.Is(err, context.Canceled) {
		t.Errorf("Dial with a context that ends = %v, want context.Canceled", err)
	}
}
