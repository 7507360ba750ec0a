package policyfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/project/policyfile"
	"github.com/cotterpin/cotter/internal/rules"
	"github.com/cotterpin/cotter/policy"
)

// The policies of files are judged on their own and do not replace that of the project, unless one of
// them says so.
func TestRead(t *testing.T) {
	t.Parallel()
	const (
		allowA = "policy {\n allow_sources = [\"a.example.com\"]\n}\n"
		allowB = "policy {\n allow_sources = [\"b.example.com\"]\n}\n"
		only   = "policy_only = true\n"
	)
	for _, test := range []struct {
		name, project string
		files         []string
		allows        string // the hosts
		fails         string
	}{
		{name: "no policy", allows: "a b"},
		{name: "the project's", project: allowA, allows: "a"},
		{name: "a file does not widen it", project: allowA, files: []string{allowB}},
		{name: "a file without a policy", project: allowA, files: []string{""}, allows: "a"},
		{name: "all files must allow", files: []string{allowA, allowB}},
		{name: "a file that replaces it", project: allowA, files: []string{only + allowB}, allows: "b"},
		{name: "two files, of which one replaces it", project: allowA, files: []string{allowB, only}, allows: "b"},
		{name: "the argument with the value false", project: allowA, files: []string{"policy_only = false\n" + allowB}},
		{name: "the project's cannot replace", project: only + allowA, fails: "cotter.hcl:1"},
		{name: "nor say that it does not", project: "policy_only = false\n", fails: "only a file that the user names"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(name, text string) string {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return filepath.Join(dir, name)
			}
			write(policy.FileName, test.project)
			var files []string
			for i, text := range test.files {
				files = append(files, write(string(rune('a'+i))+".hcl", text))
			}
			read, err := policyfile.Read(dir, files, nil)
			if test.fails != "" {
				if bad, ok := errors.AsType[*policy.FileError](err); !ok || !strings.Contains(bad.Diagnostics.Error(), test.fails) {
					t.Errorf("Read = %v, want %q", err, test.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var allowed []string
			for _, host := range []string{"a", "b"} {
				if rules.Rules(read).Allow(addrs.ParseModulePackage("git::https://"+host+".example.com/net.git")) == nil {
					allowed = append(allowed, host)
				}
			}
			if got := strings.Join(allowed, " "); got != test.allows {
				t.Errorf("allowed are %q, want %q", got, test.allows)
			}
		})
	}
}

// nil is a policy that allows everything.
func TestReadWithNil(t *testing.T) {
	t.Parallel()
	all, err := policyfile.Read(t.TempDir(), nil, []*policy.Policy{nil})
	if read := rules.Rules(all); err != nil || read.HaveMinAge() || read.ReachableCommits() || read.DenyBranches() || read.Locations() != "" {
		t.Errorf("Read = %v, %v", read, err)
	}
}

func TestReadSettings(t *testing.T) {
	t.Parallel()
	dir, fallback := t.TempDir(), filepath.Join(t.TempDir(), "settings.hcl")
	read := func() (string, error) {
		settings, err := policyfile.ReadSettings(dir, fallback)
		if err != nil {
			return "", err
		}
		return settings.LockFile, nil
	}
	if _, err := read(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the named file: %v", err)
	}
	for _, file := range []struct{ name, lock string }{{fallback, "a.lock.hcl"}, {filepath.Join(dir, policy.FileName), "b.lock.hcl"}} {
		if err := os.WriteFile(file.name, []byte("settings {\n lock_file = \""+file.lock+"\"\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := read(); got != file.lock || err != nil {
			t.Errorf("with %s: %q, %v, want %q", file.name, got, err, file.lock)
		}
	}
}

// TestLinkedFile refuses a cotter.hcl that is a link to anything but a configuration file of the repository.
func TestLinkedFile(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, target, refused string }{
		{name: "beside", target: "other.hcl"},
		{name: "above", target: "../common/cotter.hcl"},
		{name: "outside", target: "../../outside.hcl", refused: "cotter.hcl:1,1-1: File not allowed; cotter.hcl cannot be read: a symbolic link points outside of"},
		{name: "in .git", target: "../.git/cotter.hcl", refused: "metadata of version control"},
		{name: "other suffix", target: "../token", refused: "does not end like that of a configuration file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			for _, name := range []string{"repo/root/other.hcl", "repo/common/cotter.hcl", "outside.hcl", "repo/.git/cotter.hcl", "repo/token"} {
				at := filepath.Join(base, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte("settings {\n lock_file = \"x.hcl\"\n}\n"), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			root := filepath.Join(base, "repo/root")
			if err := os.Symlink(test.target, filepath.Join(root, policy.FileName)); err != nil {
				t.Skip(err)
			}
			settings, err := policyfile.ReadSettings(root, "")
			switch {
			case test.refused == "" && (err != nil || settings.LockFile != "x.hcl"):
				t.Errorf("ReadSettings = %+v, %v", settings, err)
			case test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)):
				t.Errorf("ReadSettings = %v, want %q", err, test.refused)
			}
			if _, err := policyfile.Read(root, nil, nil); (err != nil) != (test.refused != "") {
				t.Errorf("Read = %v", err)
			}
			if _, err := policyfile.ReadReplacements(root); (err != nil) != (test.refused != "") {
				t.Errorf("ReadReplacements = %v", err)
			}
		})
	}
}
