package lockfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
)

func TestCheckRefusesInvalidModules(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, attribute string
		change          func(*lockfile.Module)
	}{
		{"empty key", "", func(m *lockfile.Module) { m.Key = "" }},
		{"address as key", "", func(m *lockfile.Module) { m.Key = "example.com/a/b/c" }},
		{"no source", "source", func(m *lockfile.Module) { m.Source = nil }},
		{"source not UTF-8", "source", func(m *lockfile.Module) { m.Source = testenv.Package("git::https://example.com/\xff") }},
		{"package not UTF-8", "package", func(m *lockfile.Module) { m.Package = testenv.Package("\xff") }},
		{"replaces not UTF-8", "replaces", func(m *lockfile.Module) { m.Replaces = testenv.Package("\xff") }},
		{"what is replaced, without hashes", "replaced", func(m *lockfile.Module) { m.Replaced = &lockfile.Module{Key: m.Key, Source: m.Source} }},
		{"what another call replaces", "replaced", func(m *lockfile.Module) { other := testModule("b"); m.Replaced = &other }},
		{"directory with hashes", "source", func(m *lockfile.Module) {
			m.Source, m.Replaces = testenv.Source("../a"), testenv.Source("acme/net/aws")
		}},
		{"no hashes", "hashes", func(m *lockfile.Module) { m.Hashes = nil }},
		{"weak hash", "hashes", func(m *lockfile.Module) { m.Hashes = []hashing.Hash{"h9:x"} }},
		{"bad hash", "hashes", func(m *lockfile.Module) { m.Hashes = []hashing.Hash{"h1:x"} }},
		{"hash twice", "hashes", func(m *lockfile.Module) { m.Hashes = append(m.Hashes, m.Hashes...) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root, _ := project(t, "")
			m := testModule("a")
			tt.change(&m)
			var file lockfile.File
			file.SetModule(m)
			var bad *lockfile.ModuleError
			if err := file.Check(); !errors.As(err, &bad) || bad.Key != m.Key || bad.Attribute != tt.attribute {
				t.Errorf("Check = %v, want a ModuleError about %q", err, tt.attribute)
			}
			if wrote, err := file.WriteFile(root, lockName); wrote || err == nil {
				t.Errorf("WriteFile = %v, %v, want an error", wrote, err)
			}
		})
	}
}

func TestCredentialsAreNeverWritten(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"git::https://user:hunter2@example.com/a.git",
		"git::https://hunter2@example.com/a.git//sub?ref=main",
		"git::ssh://git:hunter2@example.com/a.git",
		"https://example.com/a.zip?X-Amz-Signature=hunter2",
		"https://example.com/a.zip#hunter2",
		"git::https://user:hunter2%zz@example.com/a.git",
	} {
		for _, field := range []string{"source", "package"} {
			m := testModule("b")
			if field == "source" {
				m.Source = testenv.Package(address)
			} else {
				m.Package = testenv.Package(address)
			}
			file := parse(t, []byte(testBlock), "x")
			file.SetModule(m)
			m.Key = "a"
			file.SetModule(m)
			if err := file.Check(); !errors.Is(err, lockfile.ErrCredential) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("Check with %s %q = %v, want ErrCredential without the secret", field, address, err)
			}
			if got := string(file.Bytes()); got != testBlock {
				t.Errorf("Bytes with %s %q = %q, want the file as it was", field, address, got)
			}
		}
	}
}

func TestCheckAcceptsCleanAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"registry.opentofu.org/acme/vpc/aws//modules/x",
		"git::https://example.com/a.git?ref=7c1f791efd61f326ed6102d564d1a65d1eceedf0",
		"git::ssh://git@example.com/acme/a.git//sub?ref=main",
		"git::https://example.com/a.git?version=~> 1.2",
		"https://example.com/a.zip?checksum=sha256:00",
		"oci://example.com/a?digest=sha256:00",
		"s3::https://s3-eu-west-1.amazonaws.com/bucket/a.zip",
		"file:///srv/modules/a",
	} {
		var file lockfile.File
		m := testModule("a")
		m.Source, m.Package = testenv.Source(address), testenv.Package(address)
		file.SetModule(m)
		if err := file.Check(); err != nil {
			t.Errorf("Check with %q = %v", address, err)
		}
		assertSameModules(t, &file, parse(t, file.Bytes(), "x"))
	}
}

// Check does not validate modules that were read from a file, so an invalid one does not prevent
// other changes.
func TestCheckLeavesReadModulesAlone(t *testing.T) {
	t.Parallel()
	src := "module \"x\" {\n  source = \"https://example.com/a.zip?token=1\"\n  hashes = [\"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"]\n}\n"
	file := parse(t, []byte(src), "x")
	file.SetModule(testModule("a"))
	if err := file.Check(); err != nil {
		t.Errorf("Check = %v", err)
	}
	if got, want := string(file.Bytes()), testBlock+"\n"+src; got != want {
		t.Errorf("Bytes = %q, want %q", got, want)
	}
}
