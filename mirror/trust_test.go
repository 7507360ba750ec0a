package mirror_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/event"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/ocistore"
)

// newKey returns the key pair whose seed consists of one repeated byte.
func newKey(seed byte) (ed25519.PrivateKey, ed25519.PublicKey) {
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(seed), ed25519.SeedSize)))
	return private, private.Public().(ed25519.PublicKey)
}

// If a mirror confirms an entry, its origin is not queried. If a mirror could confirm an entry
// but does not, a warning gives the reason.
func TestTrust(t *testing.T) {
	t.Parallel()
	private, public := newKey('a')
	_, other := newKey('b')
	lists := func(lists ...[]ed25519.PublicKey) [][]ed25519.PublicKey { return lists }
	ours, theirs := []ed25519.PublicKey{public}, []ed25519.PublicKey{other}
	for _, test := range []struct {
		name     string
		signKey  ed25519.PrivateKey
		trust    ocistore.Trust
		confirms bool
		warning  string
	}{
		{name: "named", trust: ocistore.Trust{Named: true}, confirms: true},
		{name: "not named", trust: ocistore.Trust{}},
		{name: "not named, and signed", signKey: private, trust: ocistore.Trust{}},
		{name: "signed", signKey: private, trust: ocistore.Trust{SignedBy: lists(ours)}, confirms: true},
		{
			name: "named and signed", signKey: private, trust: ocistore.Trust{Named: true, SignedBy: lists(ours)},
			confirms: true,
		},
		{
			name: "one key of two", signKey: private,
			trust: ocistore.Trust{SignedBy: lists([]ed25519.PublicKey{other, public})}, confirms: true,
		},
		{
			name: "not signed", trust: ocistore.Trust{Named: true, SignedBy: lists(ours)},
			warning: "so the origins are asked: it is not signed",
		},
		{
			name: "signed by another", signKey: private, trust: ocistore.Trust{Named: true, SignedBy: lists(theirs)},
			warning: "is not one of the trusted keys",
		},
		{
			name: "signed for one list of two", signKey: private, trust: ocistore.Trust{SignedBy: lists(ours, theirs)},
			warning: "is not one of the trusted keys",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w, in, dir, m := open(t)
			m.SignKey = test.signKey
			if _, err := mirror.Push(t.Context(), in, []string{dir}, cotter.Request{}, nil, m); err != nil {
				t.Fatal(err)
			}
			m.Trust = test.trust
			var warnings []string
			fresh := w.Installer()
			fresh.CacheDir, fresh.StateDir, fresh.Stores = t.TempDir(), t.TempDir(), []cotter.PackageStore{m}
			fresh.OnEvent = func(ev cotter.Event) {
				if warning, ok := ev.(event.Warning); ok {
					warnings = append(warnings, warning.Message)
				}
			}
			w.ResetRequests()
			if err := os.RemoveAll(filepath.Join(dir, ".terraform")); err != nil {
				t.Fatal(err)
			}
			if _, err := fresh.Install(t.Context(), cotter.Request{Dir: dir, Locked: true}); err != nil {
				t.Fatal(err)
			}
			asked := false
			for _, request := range w.Requests() {
				asked = asked || !strings.HasPrefix(request.Path, "/v2/")
			}
			if asked == test.confirms {
				t.Errorf("the origins were asked: %t, want %t", asked, !test.confirms)
			}
			told := strings.Join(warnings, "\n")
			if len(warnings) > 1 || (test.warning == "") != (told == "") || !strings.Contains(told, test.warning) {
				t.Errorf("warnings are %q, want %q once", warnings, test.warning)
			}
			entries, err := in.VerifyStore(t.Context(), m)
			if err != nil || len(entries) != 2 || (entries[0].Err == nil) != test.confirms {
				t.Errorf("VerifyStore = %v, %v", entries, err)
			}
		})
	}
}

// A mirror that confirms nothing still delivers packages that were confirmed before.
func TestUntrustedMirrorDelivers(t *testing.T) {
	t.Parallel()
	w, in, dir, m := open(t)
	if _, err := mirror.Push(t.Context(), in, []string{dir}, cotter.Request{}, nil, m); err != nil {
		t.Fatal(err)
	}
	m.Trust = ocistore.Trust{}
	in.Stores, in.CacheDir = []cotter.PackageStore{m}, t.TempDir()
	for _, name := range []string{"net", "tar"} {
		if err := os.RemoveAll(filepath.Join(dir, ".terraform", "modules", name)); err != nil {
			t.Fatal(err)
		}
	}
	w.ResetRequests()
	if _, err := in.Install(t.Context(), cotter.Request{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	for _, request := range w.Requests() {
		if !strings.HasPrefix(request.Path, "/v2/") {
			t.Errorf("asked for %s", request)
		}
	}
}

// Entries that were pushed before are signed, and signatures by other keys are kept.
func TestPushSigns(t *testing.T) {
	t.Parallel()
	_, in, dir, m := open(t)
	first, firstPublic := newKey('a')
	second, secondPublic := newKey('b')
	for _, test := range []struct {
		name             string
		key              ed25519.PrivateKey
		pushed, replaced int
	}{
		{name: "without a key", pushed: 2},
		{name: "the first key", key: first, replaced: 2},
		{name: "the first key again", key: first},
		{name: "the second key", key: second, replaced: 2},
		{name: "without a key again"},
	} {
		m.SignKey = test.key
		result, err := mirror.Push(t.Context(), in, []string{dir}, cotter.Request{}, nil, m)
		if err != nil || result.Pushed != test.pushed || result.Replaced != test.replaced {
			t.Errorf("%s: Push = %+v, %v, want %d pushed and %d replaced", test.name, result, err, test.pushed, test.replaced)
		}
	}
	m.Trust = ocistore.Trust{SignedBy: [][]ed25519.PublicKey{{firstPublic}, {secondPublic}}}
	entries, err := in.VerifyStore(t.Context(), m)
	if err != nil || len(entries) != 2 || entries[0].Err != nil || entries[1].Err != nil {
		t.Errorf("VerifyStore = %v, %v", entries, err)
	}
}

// A store can be imported only if it confirms its entries.
func TestImportUnsigned(t *testing.T) {
	t.Parallel()
	w, in, dir, m := open(t)
	if _, err := mirror.Push(t.Context(), in, []string{dir}, cotter.Request{}, nil, m); err != nil {
		t.Fatal(err)
	}
	m.Trust = ocistore.Trust{}
	fresh := w.Installer()
	fresh.CacheDir, fresh.StateDir = t.TempDir(), t.TempDir()
	entries, err := fresh.ImportStore(t.Context(), m)
	if err != nil || len(entries) != 2 || !errors.Is(entries[0].Err, ocistore.ErrDeliversOnly) {
		t.Errorf("ImportStore = %v, %v, want ErrDeliversOnly", entries, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, ".terraform")); err != nil {
		t.Fatal(err)
	}
	if _, err := fresh.Install(t.Context(), cotter.Request{Dir: dir, Offline: true}); !errors.Is(err, cotter.ErrOffline) {
		t.Errorf("after the import: %v, want ErrOffline", err)
	}
}

func pemText(t *testing.T, kind string, der []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func TestParseKeys(t *testing.T) {
	t.Parallel()
	private, public := newKey('a')
	der, err := x509.MarshalPKIXPublicKey(public)
	publicText := pemText(t, "PUBLIC KEY", der, err)
	der, err = x509.MarshalPKCS8PrivateKey(private)
	privateText := pemText(t, "PRIVATE KEY", der, err)
	for _, test := range []struct{ text, public, private string }{
		{"", "it has no public key in PEM", "it has no private key in PEM"},
		{"text", "it has no public key in PEM", "it has no private key in PEM"},
		{publicText, "", `a PEM block "PUBLIC KEY"`},
		{"# comment\n" + publicText + publicText, "", `a PEM block "PUBLIC KEY"`},
		{publicText + privateText, `a PEM block "PRIVATE KEY"`, `a PEM block "PUBLIC KEY"`},
		{privateText, `a PEM block "PRIVATE KEY"`, ""},
		{pemText(t, "ENCRYPTED PRIVATE KEY", nil, nil), "ENCRYPTED", "encrypted"},
		{pemText(t, "PUBLIC KEY", []byte("x"), nil), "cannot be read", "PUBLIC KEY"},
		{pemText(t, "PRIVATE KEY", []byte("x"), nil), "PRIVATE KEY", "cannot be read"},
	} {
		keys, err := mirror.ParsePublicKeys([]byte(test.text))
		if (err == nil) != (test.public == "") || err != nil && !strings.Contains(err.Error(), test.public) || err == nil && !keys[0].Equal(public) {
			t.Errorf("ParsePublicKeys(%q) = %v, %v, want %q", test.text, keys, err, test.public)
		}
		key, err := mirror.ParsePrivateKey([]byte(test.text))
		if (err == nil) != (test.private == "") || err != nil && !strings.Contains(err.Error(), test.private) || err == nil && !key.Equal(private) {
			t.Errorf("ParsePrivateKey(%q): %v, want %q", test.text, err, test.private)
		}
	}
}

// TestKeysOfOpenSSL reads keys made by openssl, which the documentation recommends.
func TestKeysOfOpenSSL(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	text, err := exec.CommandContext(t.Context(), program, "genpkey", "-algorithm", "ed25519").Output()
	if err != nil {
		t.Fatal(err)
	}
	private, err := mirror.ParsePrivateKey(text)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "pkey", "-pubout")
	cmd.Stdin = strings.NewReader(string(text))
	if text, err = cmd.Output(); err != nil {
		t.Fatal(err)
	}
	public, err := mirror.ParsePublicKeys(text)
	if err != nil || len(public) != 1 || !public[0].Equal(private.Public()) {
		t.Errorf("ParsePublicKeys = %v, %v", public, err)
	}
}
