package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cotterpin/cotter/internal/store"
)

func TestVouch(t *testing.T) {
	t.Parallel()
	s := store.Store{Dir: t.TempDir()}
	if s.Vouched("claim") {
		t.Error("an empty store vouches for a claim")
	}
	for range 2 { // the second time it is there already
		if err := s.Vouch("claim", "second", "third"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Vouch(); err != nil {
		t.Fatal(err)
	}
	for claim, want := range map[string]bool{"claim": true, "second": true, "third": true, "another": false, "": false} {
		if got := s.Vouched(claim); got != want {
			t.Errorf("Vouched(%q) = %v, want %v", claim, got, want)
		}
	}
	if err := s.ForgetAnswers(time.Now().Add(time.Minute)); err != nil || s.Vouched("claim") {
		t.Errorf("after ForgetAnswers = %v, Vouched = %v; want nil, false", err, s.Vouched("claim"))
	}
}

// What is no file of the store's own making vouches for nothing.
func TestVouchByLink(t *testing.T) {
	t.Parallel()
	s := store.Store{Dir: t.TempDir()}
	if err := s.Vouch("claim"); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(s.Dir, "vouched/*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("vouchers = %v, %v; want one", files, err)
	}
	if err := os.Rename(files[0], files[0]+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(files[0]+".away", files[0]); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if s.Vouched("claim") {
		t.Error("a link vouches for a claim")
	}
}
