package project

import (
	"os"
	"path"
	"slices"
	"strconv"

	"github.com/cotterpin/cotter/internal/atomicfile"
)

// moveList lists moves in one directory, to which all names are relative.
type moveList struct {
	// Retired is the directory for replaced files and packages.
	Retired string
	Moves   []move

	retired int // the number of names used in Retired
}

func (l *moveList) make(root *os.Root, stepName string, dirs []string) error {
	for _, m := range l.Moves {
		if err := m.replace(root, stepName); err != nil {
			return err
		}
	}
	return syncDirs(root, stepName, dirs...)
}

// revertMoves undoes moves as far as they were made, the last one first. It makes the names in
// those of the directories durable that exist.
func revertMoves(root *os.Root, stepName string, moves []move, dirs []string) error {
	for _, m := range slices.Backward(moves) {
		if err := m.revert(root, stepName); err != nil {
			return err
		}
	}
	return syncDirs(root, stepName, slices.DeleteFunc(dirs, func(dir string) bool { return !has(root, dir) })...)
}

// move renames To to Retired, and then From to To. If From is "", To is only removed.
type move struct {
	From, To string
	// Retired is the new path of the old file or directory, or "" if To does not exist.
	Retired string
}

// newMove returns a move to the path to in root. If to exists, the move retires it first.
func (l *moveList) newMove(root *os.Root, from, to string) move {
	m := move{From: from, To: to}
	if has(root, to) {
		l.retired++
		m.Retired = path.Join(l.Retired, strconv.Itoa(l.retired))
	}
	return m
}

func (l *moveList) add(root *os.Root, from, to string) {
	l.Moves = append(l.Moves, l.newMove(root, from, to))
}

// replace retires m.To and renames m.From to it. A directory is never renamed over
// another one, because that fails on every system unless the other one is empty.
func (m move) replace(root *os.Root, stepName string) error {
	if err := m.retire(root, stepName); err != nil {
		return err
	}
	return m.install(root, stepName)
}

// retire renames m.To to m.Retired. A link is renamed, not its target.
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

// has reports whether a file, directory or link exists in root.
func has(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return err == nil
}

// syncDirs makes the names in directories durable.
func syncDirs(root *os.Root, stepName string, dirs ...string) error {
	for _, dir := range dirs {
		if err := atomicfile.SyncDir(root, dir, stepName); err != nil {
			return err
		}
	}
	return nil
}
