package userkey_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/internal/store/userkey"
	"github.com/cotterpin/cotter/internal/testenv"
)

const secret = "a secret that has 32 characters.."

func key(t testing.TB, secret string) *userkey.Key {
	t.Helper()
	k, err := userkey.FromSecret(secret)
	testenv.Must(t, err)
	return k
}

func TestSeal(t *testing.T) {
	t.Parallel()
	k := key(t, secret)
	for _, content := range []string{"", "x", "two\nlines\n", "# cotter-proof-v1 00\n"} {
		sealed := k.Seal("journal", []byte(content))
		if got, err := key(t, secret).Open("journal", sealed); err != nil || string(got) != content {
			t.Errorf("Open of %q = %q, %v", content, got, err)
		}
		changed := append(bytes.Clone(sealed), '!')
		for name, open := range map[string]func() ([]byte, error){
			"another purpose": func() ([]byte, error) { return k.Open("lock", sealed) },
			"another key":     func() ([]byte, error) { return key(t, secret+".").Open("journal", sealed) },
			"a random key":    func() ([]byte, error) { return userkey.Random().Open("journal", sealed) },
			"other content":   func() ([]byte, error) { return k.Open("journal", changed) },
			"no seal":         func() ([]byte, error) { return k.Open("journal", []byte(content)) },
			"cut":             func() ([]byte, error) { return k.Open("journal", sealed[:30]) },
		} {
			if got, err := open(); !errors.Is(err, userkey.ErrUnproven) {
				t.Errorf("%q with %s: Open = %q, %v; want ErrUnproven", content, name, got, err)
			}
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	k := key(t, secret)
	if k.Name("a", "x") != key(t, secret).Name("a", "x") {
		t.Error("one statement has two names")
	}
	// The purpose and the statement are not just concatenated.
	names := []string{k.Name("a", "x"), k.Name("a", "y"), k.Name("b", "x"), k.Name("", "ax"), k.Name("ax", ""), userkey.Random().Name("a", "x")}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			t.Errorf("two statements have the name %s", name)
		}
		seen[name] = true
	}
}

func TestShortSecret(t *testing.T) {
	t.Parallel()
	if _, err := userkey.FromSecret("password"); !errors.Is(err, userkey.ErrShortSecret) {
		t.Errorf("FromSecret of a password = %v, want ErrShortSecret", err)
	}
}

// Concurrent callers create only one key, which only the user can read.
func TestReadOrMake(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state", "cotter")
	if _, err := userkey.Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read without a key = %v, want fs.ErrNotExist", err)
	}
	names := make([]string, 16)
	var wait sync.WaitGroup
	for i := range names {
		wait.Go(func() {
			k, err := userkey.ReadOrMake(dir)
			if err != nil {
				t.Error(err)
				return
			}
			names[i] = k.Name("a", "x")
		})
	}
	wait.Wait()
	k, err := userkey.Read(dir)
	testenv.Must(t, err)
	for _, name := range names {
		if name != k.Name("a", "x") {
			t.Error("two processes have different keys")
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the state directory has %v, %v", entries, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "key")); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
		t.Errorf("the key has mode %v, %v; want 0600", info.Mode(), err)
	}
}

// A file that is not a private key of the right size is refused and not changed.
func TestReadUnusable(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(file string) error{
		"short":      func(file string) error { return os.WriteFile(file, []byte("x"), 0o600) },
		"long":       func(file string) error { return os.WriteFile(file, make([]byte, 99), 0o600) },
		"readable":   func(file string) error { return os.WriteFile(file, make([]byte, 32), 0o644) },
		"directory":  func(file string) error { return os.Mkdir(file, 0o700) },
		"a link":     func(file string) error { return os.Symlink("/etc/passwd", file) },
		"other user": plantForeign,
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "key")
		if err := plant(file); err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		if runtime.GOOS == "windows" && name == "readable" {
			continue
		}
		if _, err := userkey.ReadOrMake(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: ReadOrMake = %v, want an error", name, err)
		}
		if _, err := os.Lstat(file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func plantForeign(file string) error {
	return errors.Join(os.WriteFile(file, make([]byte, 32), 0o600), os.Chown(file, 65534, 65534)) // for root only
}

func FuzzOpen(f *testing.F) {
	k := key(f, secret)
	f.Add([]byte(""))
	f.Add(k.Seal("journal", []byte("{}")))
	f.Add([]byte("# cotter-proof-v1 \n"))
	header, code, _ := bytes.Cut(k.Seal("journal", []byte("{}")), []byte("v1 "))
	f.Add(slices.Concat(header, []byte("v1 "), bytes.ToUpper(code)))
	f.Fuzz(func(t *testing.T, sealed []byte) {
		content, err := k.Open("journal", sealed)
		if err != nil {
			return
		}
		if !bytes.Equal(k.Seal("journal", content), sealed) {
			t.Errorf("Open took %q, which Seal does not make", sealed)
		}
	})
}
