package hashing_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/hashing"
)

func hashTable(t testing.TB, f func(want, hash string)) {
	t.Helper()
	text, err := os.ReadFile("../conformance/testdata/hashes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		want, hash, found := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		if !found {
			t.Fatalf("bad line %q", line)
		}
		f(want, hash)
	}
}

func kindOfHash(h hashing.Hash, err error) string {
	var invalid *hashing.HashError
	switch {
	case errors.As(err, &invalid):
		return "invalid"
	case err != nil:
		return err.Error()
	case h.Strong():
		return "strong"
	case h.Known():
		return "known"
	}
	return "unknown"
}

func TestParseHash(t *testing.T) {
	t.Parallel()
	hashTable(t, func(want, text string) {
		hash, err := hashing.ParseHash(text)
		if got := kindOfHash(hash, err); got != want {
			t.Errorf("ParseHash(%q) is %s (%v), want %s", text, got, err, want)
		}
		if err == nil && string(hash) != text {
			t.Errorf("ParseHash(%q) = %q", text, hash)
		}
	})
}

func TestParseHashLimits(t *testing.T) {
	t.Parallel()
	if _, err := hashing.ParseHash("x:" + strings.Repeat("a", 510)); err != nil {
		t.Errorf("ParseHash of 512 bytes: %v", err)
	}
	_, err := hashing.ParseHash("x:" + strings.Repeat("a", 511))
	if err == nil || len(err.Error()) > 250 {
		t.Errorf("ParseHash of 513 bytes: error %v, want a short one", err)
	}
}

func TestScheme(t *testing.T) {
	t.Parallel()
	for hash, want := range map[hashing.Hash]string{"h1:x": "h1", "nar1:sha256:x": "nar1", "h1": "", "": ""} {
		if got := hash.Scheme(); got != want {
			t.Errorf("Hash(%q).Scheme() = %q, want %q", hash, got, want)
		}
	}
}

func FuzzParseHash(f *testing.F) {
	hashTable(f, func(_, hash string) { f.Add(hash) })
	f.Fuzz(func(t *testing.T, text string) {
		hash, err := hashing.ParseHash(text)
		if err != nil {
			return
		}
		if string(hash) != text || hash.Scheme() == "" || strings.ContainsAny(text, " \n\t\x00") {
			t.Errorf("ParseHash(%q) = %q of scheme %q", text, hash, hash.Scheme())
		}
	})
}
