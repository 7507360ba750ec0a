package project

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/cotterpin/cotter/internal/atomicfile"
)

// moveList lists moves in the modules directory, to which all names are relative, as the journal has them.
type moveList struct {
	// Stage is the directory of what is moved to its place, and Retired that of what is replaced.
	Stage, Retired string
	Moves          []move

	retired int // the number of names used in Retired
}

// newMove returns a move. If replaces is set, the move retires what is at to first.
func (l *moveList) newMove(from, to string, replaces bool) move {
	m := move{From: from, To: to}
	if replaces {
		l.retired++
		m.Retired = path.Join(l.Retired, strconv.Itoa(l.retired))
	}
	return m
}

func (l *moveList) add(from, to string, replaces bool) {
	l.Moves = append(l.Moves, l.newMove(from, to, replaces))
}

// prepare creates the directories that the moves need, and makes what is staged durable.
func (l *moveList) prepare(root *os.Root) error {
	for _, m := range l.Moves { // revert treats a missing staged path as already moved
		if m.From != "" && !has(root, m.From) {
			return &fs.PathError{Op: "install", Path: m.From, Err: fs.ErrNotExist}
		}
	}
	for _, dir := range []string{l.Retired, treesName} {
		if err := atomicfile.Step("project.dirs.mkdir", func() error { return root.MkdirAll(dir, 0o777) }); err != nil {
			return err
		}
		if info, err := root.Lstat(dir); err != nil || !info.IsDir() { // files are moved in it
			return fmt.Errorf("%s is not a directory", filepath.Join(root.Name(), filepath.FromSlash(dir)))
		}
	}
	return atomicfile.Step("project.stage.sync", func() error { return syncTree(root, l.Stage, "project.stage") })
}

func (l *moveList) make(root *os.Root) error {
	for _, m := range l.Moves {
		if err := m.replace(root, "project.package"); err != nil {
			return err
		}
	}
	return syncDirs(root, "project.package", l.dirs()...)
}

// revert undoes the moves as far as they were made, the last one first.
func (l *moveList) revert(root *os.Root) error {
	for _, m := range slices.Backward(l.Moves) {
		if err := m.revert(root, "project.undo"); err != nil {
			return err
		}
	}
	return syncDirs(root, "project.undo", slices.DeleteFunc(l.dirs(), func(dir string) bool { return !has(root, dir) })...)
}

func (l *moveList) dirs() []string { return []string{".", ownName, treesName, l.Retired} }

// move renames To to Retired, and then From to To. If From is "", To is only removed.
type move struct {
	From, To string
	// Retired is "" if To does not exist.
	Retired string
}

// replace never renames a directory over another one, which fails on every system unless it is empty.
func (m move) replace(root *os.Root, stepName string) error {
	if err := m.retire(root, stepName); err != nil {
		return err
	}
	return m.install(root, stepName)
}

// retire renames a link, not its target.
func (m move) retire(root *os.Root, stepName string) error {
	if m.Retired == "" {
		return nil
	}
	return atomicfile.Step(stepName+".retire", func() error { return root.Rename(m.To, m.Retired) })
}

func (m move) install(root *os.Root, stepName string) error {
	if m.From == "" {
		return nil
	}
	return atomicfile.Step(stepName+".install", func() error { return root.Rename(m.From, m.To) })
}

// revert undoes the move as far as it was made. If another program has put something back where
// the move had retired it, such as git, that is retired instead.
func (m move) revert(root *os.Root, stepName string) error {
	if m.From != "" && !has(root, m.From) && has(root, m.To) {
		err := atomicfile.Step(stepName+".uninstall", func() error { return root.Rename(m.To, m.From) })
		if err != nil {
			return err
		}
	}
	if m.Retired == "" || !has(root, m.Retired) {
		return nil
	}
	if has(root, m.To) {
		err := atomicfile.Step(stepName+".retire", func() error { return root.Rename(m.To, m.Retired+"-other") })
		if err != nil {
			return err
		}
	}
	return atomicfile.Step(stepName+".unretire", func() error { return root.Rename(m.Retired, m.To) })
}

func has(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return err == nil
}

func syncDirs(root *os.Root, stepName string, dirs ...string) error {
	for _, dir := range dirs {
		if err := atomicfile.SyncDir(root, dir, stepName); err != nil {
			return err
		}
	}
	return nil
}
