//go:build unix

package userkey_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/internal/testenv"
)

// A directory that other users can exchange has no key, and none is created there.
func TestExposedDir(t *testing.T) {
	t.Parallel()
	open := filepath.Join(testenv.EnterableDir(t), "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil { //nolint:gosec // this is the test
		t.Fatal(err)
	}
	dir := filepath.Join(open, "state")
	if _, err := userkey.ReadOrMake(dir); !errors.As(err, new(*pathsafe.ExposedError)) {
		t.Errorf("ReadOrMake = %v, want an ExposedError", err)
	}
	if entries, err := os.ReadDir(open); len(entries) > 0 || err != nil {
		t.Errorf("the directory has %v, %v", entries, err)
	}
	if _, err := userkey.Read(open); !errors.As(err, new(*pathsafe.ExposedError)) {
		t.Errorf("Read = %v, want an ExposedError", err)
	}
}

// The file that is read is the one whose owner and mode are checked, even if its name is exchanged
// all the time between one that is private and one that another user has written. (A sticky state
// directory of others is refused, but the key does not depend on that.)
func TestReadExchanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	own, planted := filepath.Join(dir, "own"), filepath.Join(dir, "planted")
	content := map[string][]byte{own: make([]byte, 32), planted: append(make([]byte, 31), 1)}
	if err := errors.Join(os.WriteFile(own, content[own], 0o600), os.WriteFile(planted, content[planted], 0o644), os.Link(own, file)); err != nil { //nolint:gosec // this is the test
		t.Fatal(err)
	}
	k, err := userkey.Read(dir)
	testenv.Must(t, err)
	want := k.Name("a", "x")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		next := filepath.Join(dir, "next")
		for ctx.Err() == nil {
			for _, from := range []string{planted, own} {
				_ = os.Link(from, next)
				_ = os.Rename(next, file)
			}
		}
	}()
	for range 3000 {
		if k, err := userkey.Read(dir); err == nil && k.Name("a", "x") != want {
			t.Error("the key that another user could have written was accepted")
			break
		}
	}
	cancel()
	<-done
}
