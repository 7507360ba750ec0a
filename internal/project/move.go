package project

import (
	"os"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
)

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
