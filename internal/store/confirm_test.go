package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/store/userkey"
)

func TestConfirm(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	confirmed := func(record string) bool { _, ok := s.Confirmed(record); return ok }
	if confirmed("claim") {
		t.Error("an empty cache confirms a claim")
	}
	before := time.Now().Add(-time.Second)
	for range 2 { // the second time, the confirmation exists already
		must(t, s.Confirm("claim", "second", "third"))
	}
	must(t, s.Confirm())
	for claim, want := range map[string]bool{"claim": true, "second": true, "third": true, "another": false, "": false} {
		if got := confirmed(claim); got != want {
			t.Errorf("Confirmed(%q) = %v, want %v", claim, got, want)
		}
	}
	for _, record := range []string{"claim", "third"} {
		if since, _ := s.Confirmed(record); since.Before(before) || since.After(time.Now()) {
			t.Errorf("%s was confirmed at %v, want now", record, since)
		}
	}
	other, err := store.OpenModules(s.Dir(), userkey.Random())
	must(t, err)
	defer other.Close()
	if _, ok := other.Confirmed("claim"); ok {
		t.Error("another user's confirmation counts")
	}
	if err := s.Forget(time.Now().Add(time.Minute)); err != nil || confirmed("claim") {
		t.Errorf("after Forget = %v, Confirmed = %v; want nil, false", err, confirmed("claim"))
	}
}

// A link with the name of a confirmation does not confirm anything.
func TestConfirmedByLink(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	must(t, s.Confirm("claim"))
	files, err := filepath.Glob(filepath.Join(s.Dir(), "confirmed/*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("confirmations = %v, %v; want one", files, err)
	}
	must(t, os.Rename(files[0], files[0]+".away"))
	if err := os.Symlink(files[0]+".away", files[0]); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if _, ok := s.Confirmed("claim"); ok {
		t.Error("a link confirms a claim")
	}
}
