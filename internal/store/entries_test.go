package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/internal/userkey"
)

func TestModuleEntries(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	if entries, err := store.ViewModules(s.Dir(), userkey.Random()).Entries(); err != nil || entries != nil {
		t.Errorf("Entries of an empty cache = %v, %v", entries, err)
	}
	t1 := publishModule(t, s, "12345")
	name := store.FileName(t1)
	long := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(s.Dir(), "tree", name), long, long); err != nil {
		t.Fatal(err)
	}
	entries, err := store.ViewModules(s.Dir(), userkey.Random()).Entries()
	if err != nil || len(entries) != 1 {
		t.Fatalf("Entries = %v, %v; want one", entries, err)
	}
	if diff := cmp.Diff(name, entries[0].Name); diff != "" || entries[0].Bytes != 5 || time.Since(entries[0].Used) < 47*time.Hour {
		t.Errorf("Entries = %+v", entries)
	}
	if _, err := s.CopyTo(t.Context(), filepath.Join(t.TempDir(), "copy"), t1, store.CopyOptions{}); err != nil {
		t.Fatal(err)
	}
	if entries, err = store.ViewModules(s.Dir(), userkey.Random()).Entries(); err != nil || time.Since(entries[0].Used) > time.Hour {
		t.Errorf("after a use, Entries = %+v, %v", entries, err)
	}
	if err := s.Check(t.Context(), name); err != nil {
		t.Errorf("Check = %v", err)
	}
	if removed, err := s.Remove(name); !removed || err != nil || s.Has(t1) {
		t.Errorf("Remove = %v, %v; it is there: %v", removed, err, s.Has(t1))
	}
	if err := s.Check(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Check of what was removed = %v, want ErrNotExist", err)
	}
}

func TestCheckDamaged(t *testing.T) {
	t.Parallel()
	s := openModules(t, t.TempDir())
	t1 := publishModule(t, s, "x")
	name := store.FileName(t1)
	if err := os.WriteFile(filepath.Join(s.Dir(), "tree", name, "more.tf"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context(), name); !errors.Is(err, store.ErrDamaged) || s.Has(t1) {
		t.Errorf("Check = %v, want ErrDamaged; it is there: %v", err, s.Has(t1))
	}
	if size, err := s.QuarantineSize(); err != nil || size != 1 {
		t.Errorf("the quarantine has %d bytes, %v; want 1", size, err)
	}
}
