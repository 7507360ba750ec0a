//go:build linux || darwin

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/modtest"
)

// attacker has other content for the modules of a project, and their own home directory,
// cache and key.
type attacker struct {
	*hostileSite
	lock []byte // a lock that points to the other content
}

// attack lets an attacker work in a clone of the project while the archive's origin has
// other content. The files that this leaves on disk are genuine: the command wrote them,
// with the attacker's key.
func (s *hostileSite) attack(t *testing.T, run func(a *attacker)) *attacker {
	t.Helper()
	site := *s
	a := &attacker{hostileSite: &site}
	home := filepath.Join(t.TempDir(), "attacker")
	a.project, a.cache, a.state = filepath.Join(home, "project"), filepath.Join(home, "cache"), filepath.Join(home, "state")
	a.checkOut(t, s)
	s.publish(t, "# evil\n")
	run(a)
	s.publish(t, "# zip\n")
	s.world.ResetRequests()
	return a
}

// publish replaces the content of the archive at its origin.
func (s *hostileSite) publish(t *testing.T, text string) {
	t.Helper()
	if err := s.world.PublishArchive("n.zip", modtest.Txtar("-- main.tf --\n"+text)); err != nil {
		t.Fatal(err)
	}
}

// checkOut copies the project as it was installed.
func (a *attacker) checkOut(t *testing.T, s *hostileSite) {
	t.Helper()
	remove(t, a.project)
	if err := copyTree(a.project, filepath.Join(s.saved, "project"), false); err != nil {
		t.Fatal(err)
	}
}

// installAll installs the other content and keeps a copy of the lock.
func (a *attacker) installAll(t *testing.T) {
	t.Helper()
	if end := a.run("update zip --accept-changed zip"); end.status != 0 {
		t.Fatalf("the attacker's update: status %d\n%s", end.status, end.out)
	}
	a.lock = readFile(t, filepath.Join(a.project, lockFile))
	if end := a.run("install --locked"); end.status != 0 {
		t.Fatalf("the attacker's installation: status %d\n%s", end.status, end.out)
	}
}

// interrupt kills an update after it has written its journal and before it places anything.
func (a *attacker) interrupt(t *testing.T) {
	t.Helper()
	end := a.run("update zip --accept-changed zip", killVariable+"=project.manifest.retire")
	if end.status >= 0 || len(a.journals()) == 0 {
		t.Fatalf("the attacker's update was not killed with a journal: status %d, journals %v\n%s", end.status, a.journals(), end.out)
	}
}

// journals returns the names of the journals that exist. Older versions used the name
// journal.json.
func (a *attacker) journals() []string {
	return slices.DeleteFunc([]string{"journal", "journal.json"}, func(name string) bool {
		_, err := os.Lstat(filepath.Join(a.project, ".terraform/modules/.cotter", name))
		return err != nil
	})
}

// clone makes the project a fresh clone of a repository to which committed has added files.
// The user has no cache and no key yet.
func (s *hostileSite) clone(t *testing.T, committed func()) {
	t.Helper()
	s.reset(t, false)
	dropInstalled(t, s)
	remove(t, s.cache)
	remove(t, s.state)
	committed()
}

// TestCommittedJournal clones repositories that contain the journal of a killed run. The
// journal asks to write another lock and to place staged packages; it must have no effect.
func TestCommittedJournal(t *testing.T) {
	t.Parallel()
	s := newHostileSite(t)
	const own = ".terraform/modules/.cotter/"
	interrupted := s.attack(t, func(a *attacker) { a.interrupt(t) })
	evil := s.attack(t, func(a *attacker) { a.installAll(t) })
	forge := func(name string) func(t *testing.T) {
		return func(t *testing.T) {
			lock := readFile(t, filepath.Join(s.project, lockFile))
			text, err := json.Marshal(map[string]any{
				"Moves": []any{map[string]string{"Key": "zip", "From": ".cotter/stage/x/zip"}}, "LockFile": lockFile,
				"Lock": map[string][]byte{"Old": lock, "New": evil.lock}, "LockCopy": evil.lock,
				"Manifest": readFile(t, filepath.Join(evil.project, ".terraform/modules/modules.json")),
			})
			if err != nil {
				t.Fatal(err)
			}
			writeText(t, filepath.Join(s.project, own+name), string(text))
			writeText(t, filepath.Join(s.project, own+"stage/x/zip/main.tf"), "# evil\n")
		}
	}
	for _, c := range []struct {
		name   string
		commit func(t *testing.T)
		warns  bool
	}{
		{"journal.json", forge("journal.json"), false},
		{"journal", forge("journal"), true},
		{"journal of another user's run", func(t *testing.T) {
			if err := copyTree(filepath.Join(s.project, ".terraform"), filepath.Join(interrupted.project, ".terraform"), false); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		for _, command := range []string{"install --locked", "install"} {
			t.Run(c.name+", "+command, func(t *testing.T) {
				s.clone(t, func() { c.commit(t) })
				end := s.run(command, "CI="+map[string]string{"install --locked": "1"}[command])
				if end.status != 0 {
					t.Errorf("status %d", end.status)
				}
				if diff := differing(s.good, pictured(t, s.project, isBookkeeping)); diff != "" {
					t.Errorf("the journal had an effect (-good +after):\n%s", diff)
				}
				for _, origin := range s.unasked() {
					t.Errorf("success without a question to %s", origin)
				}
				if c.warns && !strings.Contains(end.out, ".cotter/journal") {
					t.Errorf("no warning names the journal")
				}
				if t.Failed() {
					t.Logf("%s:\n%s", command, end.out)
				}
			})
		}
	}
}

// TestCommittedLockCopy clones repositories with an edited lock, matching installed files,
// and a matching copy of the lock, as if the last run had installed from it. Cotter must
// still ask the origins.
func TestCommittedLockCopy(t *testing.T) {
	t.Parallel()
	s := newHostileSite(t)
	const lockCopy = ".terraform/modules/.cotter/lock.hcl"
	evil := s.attack(t, func(a *attacker) { a.installAll(t) })
	genuine := func(t *testing.T) {
		remove(t, s.project)
		if err := copyTree(s.project, evil.project, false); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		commit func(t *testing.T)
	}{
		{"of another user's run", genuine},
		{"written by hand", func(t *testing.T) {
			genuine(t)
			writeText(t, filepath.Join(s.project, lockCopy), string(evil.lock))
		}},
		{"absent", func(t *testing.T) {
			genuine(t)
			remove(t, filepath.Join(s.project, lockCopy))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.clone(t, func() { c.commit(t) })
			before := pictured(t, s.project, isBookkeeping)
			if end := s.run("verify"); end.status == 0 && c.name != "absent" && !strings.Contains(end.out, lockCopy) {
				t.Errorf("verify believes the copy of the lock, and has no warning:\n%s", end.out)
			}
			end := s.run("install --locked", "CI=1")
			if end.status != 1 || !strings.Contains(end.out, "module zip (main.tf:") {
				t.Errorf("install --locked: status %d, want 1 and the module that its origin does not confirm:\n%s", end.status, end.out)
			}
			if diff := differing(before, pictured(t, s.project, isBookkeeping)); diff != "" {
				t.Errorf("install --locked changed something (-before +after):\n%s", diff)
			}
		})
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
