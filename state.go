package cotter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/userkey"
)

// userKey returns the user's key. One that cannot be used is replaced by a random
// one, which proves nothing to other runs, and a warning says so.
func (in *Installer) userKey(events *events) (*userkey.Key, error) {
	if in.StateKey != "" {
		return userkey.FromSecret(in.StateKey)
	}
	if in.StateDir == "" {
		return userkey.Random(), nil
	}
	key, err := userkey.ReadOrMake(in.StateDir)
	if err != nil {
		events.emit(Warning{Message: fmt.Sprintf("the user's key in %s cannot be used (%s), so nothing that earlier runs left is relied on", in.StateDir, err)})
		return userkey.Random(), nil
	}
	return key, nil
}

// sessionKey is the key of a session, or the user's if there is none.
func (in *Installer) sessionKey(shared *session, events *events) (*userkey.Key, error) {
	if shared != nil {
		return shared.key, nil
	}
	return in.userKey(events)
}

// knownKey is [Installer.userKey] for what only reads: no key is made.
func (in *Installer) knownKey() (*userkey.Key, error) {
	if in.StateKey != "" {
		return userkey.FromSecret(in.StateKey)
	}
	if in.StateDir == "" {
		return userkey.Random(), nil
	}
	key, err := userkey.Read(in.StateDir)
	if err != nil {
		return userkey.Random(), nil //nolint:nilerr // then nothing is proven, which is what is reported
	}
	return key, nil
}

// hasState reports whether runs can recognise what earlier ones left.
func (in *Installer) hasState() bool { return in.StateDir != "" || in.StateKey != "" }

// warnOfFindings tells the user what a killed run, or another user, has left in
// the project. Without a key, files of our own are unproven too, which is not
// worth a word.
func (in *Installer) warnOfFindings(events *events, findings []project.Finding) {
	for _, f := range findings {
		if text := findingText(f, in.hasState()); text != "" {
			events.emit(Warning{Message: text})
		}
	}
}

func findingText(f project.Finding, hasState bool) string {
	switch {
	case f.Kind == project.Undone:
		return "an earlier run was killed while it changed this project; what it had changed was undone"
	case f.Kind == project.GivenUp:
		return "an earlier run was killed while it changed this project, and another program has installed modules since; the rest of that change was given up"
	case f.Kind == project.UnprovenJournal && hasState:
		return fmt.Sprintf("%s was not written here by this user; it was ignored", f.File)
	case f.Kind == project.UnprovenLockCopy && hasState:
		return fmt.Sprintf("%s was not written here by this user; it was ignored, and origins are asked to confirm the lock", f.File)
	}
	return ""
}

// location says where the files of the request's project are.
func (r Request) location() project.Location {
	return project.Location{Dir: r.dir(), DataDir: r.dataPath(), LockFile: r.lockFile()}
}

// readLock reads the dependency lock; nil if there is none.
func readLock(req Request) ([]byte, error) {
	src, err := project.ReadLock(req.location())
	return src, req.unusableLock(err)
}

// unusableLock says what to do about a lock that is not a regular file.
func (r Request) unusableLock(err error) error {
	var pathErr *fs.PathError
	if err == nil || !errors.As(err, &pathErr) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if remedy := r.unlinkLock(); remedy != "" {
		return fmt.Errorf("the lock file cannot be used: %w; %s", err, remedy)
	}
	return fmt.Errorf("the lock file cannot be used: %w", err)
}

// unlinkLock says what to do about a lock that is a symbolic link. Stock tools
// replace it by a file when they write it, so that the link's target gets stale;
// "" if it is no link.
func (r Request) unlinkLock() string {
	target, err := os.Readlink(filepath.Join(r.dir(), r.lockFile()))
	if err != nil {
		return ""
	}
	remedy := fmt.Sprintf("put a copy of the file %q in the place of the link, for tofu and terraform do so too when they write the lock", target)
	below := filepath.Join(filepath.Dir(r.lockFile()), target)
	if filepath.IsAbs(target) || !filepath.IsLocal(below) {
		return remedy
	}
	return fmt.Sprintf("%s; or keep Cotter's entries in that file alone, with --lock-file %s", remedy, filepath.ToSlash(below))
}
