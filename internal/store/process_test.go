package store_test

import (
	"errors"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/filelock"
	"github.com/cotterpin/cotter/internal/store"
)

// While a process removes a directory, others do not begin to use it.
func TestUseWhileRemoved(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	lock := filelock.Dir(path)
	if ok, err := lock.TryExclusive(); !ok || err != nil {
		t.Skipf("directories cannot be locked here: %v", err)
	}
	var other store.InUse
	if other.Use(path) {
		t.Error("Use of a directory that is being removed succeeded")
	}
	must(t, lock.Release())
}

// A rename that fails is reported, and leaves nothing locked.
func TestPublishFails(t *testing.T) {
	t.Parallel()
	var u, other store.InUse
	staged := t.TempDir()
	failure := errors.New("disk full")
	if err := u.Publish(staged, "published", func() error { return failure }); !errors.Is(err, failure) {
		t.Errorf("Publish = %v", err)
	}
	if removed, err := other.Remove(staged, func() error { return nil }); !removed || err != nil {
		t.Errorf("the staged directory is still locked: %v, %v", removed, err)
	}
}
