package installer_test

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/bundle"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/testenv"
)

// echo is a server of packages that depend on the whole address but for a signature by Amazon, as in a bucket whose
// arguments select objects, tenants and users.
type echo struct {
	mu       sync.Mutex
	requests int
	// same makes all packages the same.
	same bool
}

func (e *echo) Get(_ context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	e.mu.Lock()
	e.requests++
	same := e.same
	e.mu.Unlock()
	text := ""
	if !same {
		text = e.content(from.Location.URL())
	}
	if err := os.Mkdir(from.Path, 0o755); err != nil {
		return getmodules.Downloaded{}, err
	}
	return getmodules.Downloaded{}, os.WriteFile(filepath.Join(from.Path, "main.tf"), []byte(text), 0o644)
}

func (e *echo) content(u *url.URL) string {
	arguments := slices.DeleteFunc(strings.Split(u.RawQuery, "&"), func(argument string) bool {
		return strings.Contains(u.RawQuery, "X-Amz-Algorithm=") && strings.HasPrefix(argument, "X-Amz-")
	})
	return "# " + u.User.String() + " " + u.Path + " " + strings.Join(arguments, "&") + " " + u.Fragment + "\n"
}

func (e *echo) take() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	taken := e.requests
	e.requests = 0
	return taken
}

// machine is a user's machine with a project of calls of an echo server.
type machine struct {
	*echo
	in  *installer.Installer
	dir string
}

func newMachine(t *testing.T, server *echo) *machine {
	t.Helper()
	return &machine{server, installer.New(installer.Options{
		Fetcher:  &getmodules.Fetcher{Getters: map[string]getmodules.Getter{"own": server}},
		CacheDir: t.TempDir(), StateDir: t.TempDir(),
	}), t.TempDir()}
}

// call writes a configuration with one call of an address, as a literal or by a variable.
func (m *machine) call(t *testing.T, address string, computed bool) installer.Project {
	t.Helper()
	p := installer.Project{Dir: m.dir}
	source := `"` + address + `"`
	if computed {
		p.Inputs.Variables = []config.Variable{{Name: "address", Value: address}}
		source = "var.address"
	}
	testenv.WriteFile(t, filepath.Join(m.dir, "main.tf"), "variable \"address\" {\n  type    = string\n  default = \"\"\n}\nmodule \"x\" {\n  source = "+source+"\n}\n")
	return p
}

func (m *machine) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(m.dir, name))
	testenv.Must(t, err)
	return string(text)
}

const lockName = ".terraform.lock.hcl"

const signedAddress = "own::https://files.example/a?X-Amz-Algorithm=AWS4&X-Amz-Credential=AKIA&X-Amz-Date=20260101&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=00ff&v=1"

// changedAddresses have pairs of addresses. They are one package only if the whole signature of both is there.
var changedAddresses = map[string]struct {
	from, to string
	one      bool
}{
	"an argument":               {"own::https://files.example/a?sha=aaa", "own::https://files.example/a?sha=bbb", false},
	"a new argument":            {"own::https://files.example/a", "own::https://files.example/a?sha=bbb", false},
	"no argument any more":      {"own::https://files.example/a?sha=aaa", "own::https://files.example/a", false},
	"one of two arguments":      {"own::https://files.example/a?ref=1&x=1", "own::https://files.example/a?ref=1&x=2", false},
	"the order":                 {"own::https://files.example/a?x=1&x=2", "own::https://files.example/a?x=2&x=1", false},
	"a token":                   {"own::https://files.example/a?token=aaa", "own::https://files.example/a?token=bbb", false},
	"a user":                    {"own::https://anna:1@files.example/a", "own::https://bert:1@files.example/a", false},
	"a fragment":                {"own::https://files.example/a#1", "own::https://files.example/a#2", false},
	"a version of an object":    {"own::https://files.example/a?versionId=1", "own::https://files.example/a?versionId=2", false},
	"a snapshot":                {"own::https://files.example/a?snapshot=1", "own::https://files.example/a?snapshot=2", false},
	"a generation":              {"own::https://files.example/a?generation=1", "own::https://files.example/a?generation=2", false},
	"a date without signature":  {"own::https://files.example/a?X-Amz-Date=1", "own::https://files.example/a?X-Amz-Date=2", false},
	"a signature":               {signedAddress, strings.NewReplacer("20260101", "20260102", "00ff", "11aa").Replace(signedAddress), true},
	"a signed argument":         {signedAddress, strings.Replace(signedAddress, "v=1", "v=2", 1), false},
	"a signature with a change": {signedAddress, strings.NewReplacer("00ff", "11aa", "v=1", "v=2").Replace(signedAddress), false},
}

// On the machine that has installed one address, another one is never taken for it, whatever the lock shows; and one
// address always is.
func TestAddressIsOnePackage(t *testing.T) {
	t.Parallel()
	for name, test := range changedAddresses {
		for _, computed := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				m := newMachine(t, &echo{})
				mustInstall(t, m.in, m.call(t, test.from, computed), installer.InstallOptions{})
				before, lock := m.read(t, ".terraform/modules/x/main.tf"), m.read(t, lockName)
				p := m.call(t, test.to, computed)
				m.take()
				report, err := m.in.Verify(t.Context(), p, installer.VerifyOptions{})
				if err != nil || (len(report.Stale) == 0) != test.one {
					t.Errorf("Verify reports %v, %v", report.Stale, err)
				}
				_, err = m.in.Install(t.Context(), p, installer.InstallOptions{Locked: true})
				if (err == nil) != test.one {
					t.Errorf("Install with Locked: %v", err)
				}
				if got := m.read(t, lockName); got != lock {
					t.Errorf("a run that must not change the lock has changed it:\n%s", got)
				}
				result := mustInstall(t, m.in, p, installer.InstallOptions{})
				switch installed := m.read(t, ".terraform/modules/x/main.tf"); {
				case test.one && (m.take() > 0 || len(result.LockChanges) > 0):
					t.Errorf("a new signature changes %v", result.LockChanges)
				case test.one != (installed == before):
					t.Errorf("%s is installed, after %s", installed, before)
				}
				if result = mustInstall(t, m.in, p, installer.InstallOptions{Locked: true}); len(result.LockChanges) > 0 {
					t.Errorf("a second run changes %v", result.LockChanges)
				}
			})
		}
	}
}

// If another address has the same package, nothing changes but what this machine knows.
func TestAddressWithSamePackage(t *testing.T) {
	t.Parallel()
	m := newMachine(t, &echo{same: true})
	mustInstall(t, m.in, m.call(t, "own::https://files.example/a?token=old", true), installer.InstallOptions{})
	lock := m.read(t, lockName)
	p := m.call(t, "own::https://files.example/a?token=new", true)
	m.take()
	mustInstall(t, m.in, p, installer.InstallOptions{Locked: true})
	if asked := m.take(); asked != 1 {
		t.Errorf("%d requests for the new address, want 1", asked)
	}
	mustInstall(t, m.in, p, installer.InstallOptions{})
	if asked := m.take(); asked != 0 || m.read(t, lockName) != lock {
		t.Errorf("after %d more requests the lock is\n%s", asked, m.read(t, lockName))
	}
	if report, err := m.in.Verify(t.Context(), p, installer.VerifyOptions{}); err != nil || !report.OK() {
		t.Errorf("Verify: %+v, %v", report, err)
	}
}

// Two calls of which the lock shows the same address have packages of their own, on every machine.
func TestAddressesOfTwoCalls(t *testing.T) {
	t.Parallel()
	m := newMachine(t, &echo{})
	p := installer.Project{Dir: m.dir}
	const one = "variable \"v\" {\n  default = \"1\"\n}\nmodule \"a\" {\n  source = \"own::https://files.example/a?x=${var.v}\"\n}\n"
	testenv.WriteFile(t, filepath.Join(m.dir, "main.tf"), one)
	mustInstall(t, m.in, p, installer.InstallOptions{})
	for _, state := range []string{"on the same machine", "on another one"} {
		if state == "on another one" {
			testenv.Must(t, os.RemoveAll(filepath.Join(m.dir, ".terraform")))
			m.in = newMachine(t, m.echo).in
		}
		testenv.WriteFile(t, filepath.Join(m.dir, "main.tf"), one+strings.NewReplacer(`"v"`, `"w"`, `"1"`, `"2"`, `"a"`, `"b"`, "var.v", "var.w").Replace(one))
		mustInstall(t, m.in, p, installer.InstallOptions{})
		if a, b := m.read(t, ".terraform/modules/a/main.tf"), m.read(t, ".terraform/modules/b/main.tf"); a == b {
			t.Errorf("%s: both calls have %s", state, a)
		}
		testenv.WriteFile(t, filepath.Join(m.dir, "main.tf"), one)
		mustInstall(t, m.in, p, installer.InstallOptions{})
	}
}

// A machine that has not installed the address has the hash and the origin. The error says what the lock may be for.
func TestAddressElsewhere(t *testing.T) {
	t.Parallel()
	for _, computed := range []bool{true, false} {
		m := newMachine(t, &echo{})
		mustInstall(t, m.in, m.call(t, "own::https://files.example/a?sha=aaa&ref=1", computed), installer.InstallOptions{})
		testenv.Must(t, os.RemoveAll(filepath.Join(m.dir, ".terraform")))
		testenv.WriteFile(t, filepath.Join(m.dir, lockName), strings.Replace(m.read(t, lockName), "sha=aaa&", "", 1)) // as older programs wrote it
		p := m.call(t, "own::https://files.example/a?sha=bbb&ref=1", computed)
		for _, in := range []*installer.Installer{m.in, newMachine(t, m.echo).in} {
			for _, locked := range []bool{false, true} {
				_, err := in.Install(t.Context(), p, installer.InstallOptions{Locked: locked})
				mismatch, ok := errors.AsType[*installer.HashMismatchError](err)
				if !ok || !slices.Equal(mismatch.Hidden, []string{`the argument "sha"`}) || strings.Contains(err.Error(), "tampered") {
					t.Errorf("computed %v, locked %v: %v", computed, locked, err)
				}
			}
		}
	}
}

// A lock shows the arguments of a literal in the project, except for credentials and signatures, and nothing else.
func TestArgumentsInLock(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		source   string
		computed bool
		want     string
	}{
		"a literal":         {source: "own::https://files.example/a?sha=aaa&x=1", want: "own::https://files.example/a?sha=aaa&x=1"},
		"credentials":       {source: "own::https://u:p@files.example/a?sha=aaa&token=t&api_key=k&x=1#f", want: "own::https://files.example/a?sha=aaa&x=1"},
		"a signature":       {source: signedAddress, want: "own::https://files.example/a?v=1"},
		"of a variable":     {source: "own::https://files.example/a?sha=aaa&ref=1", computed: true, want: "own::https://files.example/a?ref=1"},
		"a nested password": {source: "own::https://files.example/a?x=https%3A%2F%2Fu%3Ap%40h%2F", want: "own::https://files.example/a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, &echo{})
			mustInstall(t, m.in, m.call(t, test.source, test.computed), installer.InstallOptions{})
			lock, err := installer.ReadLock(t.Context(), installer.Project{Dir: m.dir})
			testenv.Must(t, err)
			if got := lock.Modules()[0]; got.Source.String() != test.want || got.Package.String() != "own::https://files.example/a" && !test.computed {
				t.Errorf("the lock has %s, want %s", m.read(t, lockName), test.want)
			}
		})
	}
}

// An entry that was written without arguments is taken. An installation completes it; other runs leave it alone. Mirrors
// and bundles of either form still match.
func TestEntryWithoutArguments(t *testing.T) {
	t.Parallel()
	m := newMachine(t, &echo{})
	p := m.call(t, "own::https://files.example/a?sha=aaa", false)
	mustInstall(t, m.in, p, installer.InstallOptions{})
	full := m.read(t, lockName)
	short := strings.Replace(full, "?sha=aaa", "", 1)
	packed := func(lock string) *bundle.Bundle {
		var text bytes.Buffer
		testenv.WriteFile(t, filepath.Join(m.dir, lockName), lock)
		_, err := bundle.Create(t.Context(), m.in, projects(m.dir), installer.LockedOptions{}, &text)
		testenv.Must(t, err)
		return openBundle(t, text.Bytes())
	}
	stores := map[string]*bundle.Bundle{"": nil, "a bundle of the full entry": packed(full), "a bundle of the short entry": packed(short)}
	for name, store := range stores {
		for _, lock := range []string{full, short} {
			fresh := newMachine(t, m.echo)
			if store != nil {
				fresh.in = with(fresh.in, func(o *installer.Options) { o.Stores = []installer.PackageStore{store} })
			}
			p := fresh.call(t, "own::https://files.example/a?sha=aaa", false)
			testenv.WriteFile(t, filepath.Join(fresh.dir, lockName), lock)
			fresh.take()
			mustInstall(t, fresh.in, p, installer.InstallOptions{Locked: true})
			if asked := fresh.take(); (asked == 0) != (store != nil) {
				t.Errorf("%s: %d requests", name, asked)
			}
			if report, err := fresh.in.Verify(t.Context(), p, installer.VerifyOptions{}); err != nil || !report.OK() || fresh.read(t, lockName) != lock {
				t.Errorf("%s: Verify: %+v, %v, with the lock\n%s", name, report, err, fresh.read(t, lockName))
			}
			mustInstall(t, fresh.in, p, installer.InstallOptions{})
			if got := fresh.read(t, lockName); got != full || fresh.take() > 0 {
				t.Errorf("%s: the completed lock is\n%s", name, got)
			}
		}
	}
}
