package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/testenv"
)

// No file or directory of a project is in .git, however the path is spelled and whichever links it
// goes through.
func TestMetadataIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		links    map[string]string
		lockFile string
		dataDir  string
		want     string // the refused component, or ""
	}{
		"the usual places":                 {},
		"a lock in .git":                   {lockFile: ".git/commondir", want: ".git"},
		"a lock instead of .git":           {lockFile: ".git", want: ".git"},
		"another case":                     {lockFile: "a/.GIT/config", want: ".GIT"},
		"a short name of NTFS":             {lockFile: "git~1/config", want: "git~1"},
		"backslashes":                      {lockFile: `a\.git\config`, want: ".git"},
		"a dot at the end":                 {lockFile: ".git./config", want: ".git."},
		"a code point that HFS+ ignores":   {lockFile: ".gi\u200ct/config", want: ".gi\u200ct"},
		"a lock behind a link":             {links: map[string]string{"locks": ".git"}, lockFile: "locks/commondir", want: ".git"},
		"a lock behind two links":          {links: map[string]string{"locks": "also", "also": ".git/refs"}, lockFile: "locks/x/y.hcl", want: ".git"},
		"a lock that is a link":            {links: map[string]string{"lock.hcl": ".git/HEAD"}, lockFile: "lock.hcl", want: ".git"},
		"a data directory in .git":         {dataDir: ".git/terraform", want: ".git"},
		"a data directory behind a link":   {links: map[string]string{"data": ".git"}, dataDir: "data/terraform", want: ".git"},
		"a linked data directory":          {links: map[string]string{".terraform": ".git/hooks"}, want: ".git"},
		"a linked directory of providers":  {links: map[string]string{".terraform/providers": "../.git/hooks"}, want: ".git"},
		"another name that begins so":      {lockFile: ".github/lock.hcl"},
		"a link to an ordinary directory":  {links: map[string]string{"locks": "a"}, lockFile: "locks/x.hcl"},
		"Mercurial":                        {lockFile: ".hg/x", want: ".hg"},
		"a link that points to itself":     {links: map[string]string{"loop": "loop"}, lockFile: "loop/x"},
		"a data directory that is no name": {dataDir: "."},
	} {
		a := newAt(t)
		a.write(t, ".git/HEAD", "ref: refs/heads/main\n")
		a.write(t, "a/main.tf", "")
		for _, dir := range []string{".git/hooks", ".git/refs"} {
			testenv.Must(t, os.Mkdir(filepath.Join(a.dir, dir), 0o755))
		}
		for link, target := range test.links {
			path := filepath.Join(a.dir, link)
			testenv.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(target, path)))
		}
		location := a.location()
		if test.lockFile != "" {
			location.LockFile = test.lockFile
		}
		if test.dataDir != "" {
			location.DataDir = filepath.Join(a.dir, test.dataDir)
		}
		_, readErr := project.ReadLock(location)
		writeErr := project.WriteLock(location, nil, []byte("x"))
		_, viewErr := project.View(location, a.key)
		p, openErr := project.Open(t.Context(), location, a.key, nil)
		if openErr == nil {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		for function, err := range map[string]error{"ReadLock": readErr, "WriteLock": writeErr, "View": viewErr, "Open": openErr} {
			var refused *project.MetadataError
			if errors.As(err, &refused) != (test.want != "") || refused != nil && refused.Part != test.want {
				t.Errorf("%s: %s = %v, want a refusal of %q", name, function, err, test.want)
			}
		}
	}
}

// A root module may itself be below a directory with such a name.
func TestMetadataAbove(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".git", "modules", "root")
	testenv.Must(t, os.MkdirAll(dir, 0o755))
	location := project.Location{Dir: dir, DataDir: filepath.Join(dir, ".terraform"), LockFile: lockName}
	if err := project.WriteLock(location, nil, []byte("x")); err != nil {
		t.Error(err)
	}
}
