package workdir_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/workdir"
)

const journalFile = ".terraform/modules/.cotter/journal.json"

// foreignProject is a project with a journal that came with it, as part of a
// repository.
func foreignProject(t testing.TB, journal []byte) (dir string, files workdir.Files) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		".git/config": "[core]\n", "main.tf": "# mine\n", ".terraform.lock.hcl": "# lock\n", "sub/x": "x", ".terraform/modules/net/main.tf": "# net\n", journalFile: string(journal),
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return dir, workdir.Files{Project: root, LockFile: ".terraform.lock.hcl"}
}

// untouched are the files that no change of modules has a part in.
func untouched(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range []string{".git", "sub", "."} {
		entries, err := os.ReadDir(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			found[name+"/"+entry.Name()] = ""
			if entry.Type().IsRegular() && entry.Name() != ".terraform.lock.hcl" {
				text, err := os.ReadFile(filepath.Join(dir, name, entry.Name()))
				if err != nil {
					t.Fatal(err)
				}
				found[name+"/"+entry.Name()] = string(text)
			}
		}
	}
	return found
}

// TestForeignJournal has journals that reach for other files.
func TestForeignJournal(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	lock := object{"Old": []byte("[core]\n"), "New": []byte("[core]\n\tfsmonitor = evil\n")}
	for name, journal := range map[string]object{
		"git's configuration": {"LockFile": ".git/config", "Lock": lock},
		"a new file":          {"LockFile": ".envrc", "Lock": object{"New": []byte("evil")}},
		"no name":             {"Lock": object{"New": []byte("evil")}},
		"outside":             {"LockFile": "../x", "Lock": object{"New": []byte("evil")}},
		"a key outside":       {"LockFile": ".terraform.lock.hcl", "Gone": []string{"../../sub"}},
		"a key of our own":    {"LockFile": ".terraform.lock.hcl", "Gone": []string{".cotter"}},
		"the manifest":        {"LockFile": ".terraform.lock.hcl", "Gone": []string{"modules.json"}},
		"a path":              {"LockFile": ".terraform.lock.hcl", "Gone": []string{"net/main.tf"}},
		"a stage outside":     {"LockFile": ".terraform.lock.hcl", "Moves": []object{{"Key": "a", "From": "net"}}},
		"a stage by detours":  {"LockFile": ".terraform.lock.hcl", "Moves": []object{{"Key": "a", "From": ".cotter/stage/../../net"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(journal)
			if err != nil {
				t.Fatal(err)
			}
			dir, files := foreignProject(t, text)
			before := untouched(t, dir)
			work, err := workdir.Open(t.Context(), filepath.Join(dir, ".terraform"), files, nil)
			if err == nil {
				t.Errorf("Open = nil, want an error")
				_ = work.Close()
			}
			if diff := cmp.Diff(before, untouched(t, dir)); diff != "" {
				t.Errorf("other files (-before +after):\n%s", diff)
			}
			if _, err := os.Stat(filepath.Join(dir, ".terraform/modules/net/main.tf")); err != nil {
				t.Error(err)
			}
		})
	}
}

func FuzzJournal(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{`, `{"LockFile":".terraform.lock.hcl","Gone":["net"],"Manifest":"e30="}`, `{"LockFile":"main.tf","Lock":{"Old":"IyBtaW5lCg==","New":"eA=="}}`,
		`{"LockFile":".terraform.lock.hcl","Moves":[{"Key":"a","From":".cotter/stage/x"}],"LockCopy":"eA=="}`, `{"lockfile":"sub/x","lock":{"new":"eA=="}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, journal []byte) {
		dir, files := foreignProject(t, journal)
		before := untouched(t, dir)
		if work, err := workdir.Open(t.Context(), filepath.Join(dir, ".terraform"), files, nil); err == nil {
			if err := work.Close(); err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff(before, untouched(t, dir)); diff != "" {
			t.Errorf("other files (-before +after):\n%s", diff)
		}
	})
}
