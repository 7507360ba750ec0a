package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// tree is the directory in which the files are created. No object's name can cause a write
// outside of it.
type tree struct {
	dir, prefix string
	root        *os.Root // nil until the first file is created
}

func (t *tree) close() {
	if t.root != nil {
		t.root.Close()
	}
}

// place returns the name of an object's file. It creates the top directory for the first file. It
// must not be called concurrently.
func (t *tree) place(key string) (string, error) {
	name, err := fileName(t.prefix, key)
	if err != nil || t.root != nil {
		return name, err
	}
	if err := os.Mkdir(t.dir, 0o700); err != nil {
		return "", err
	}
	t.root, err = os.OpenRoot(t.dir)
	return name, err
}

// fileName returns the part of an object's name after the prefix as a clean path.
func fileName(prefix, key string) (string, error) {
	below, isBelow := strings.CutPrefix(key, prefix)
	if !isBelow {
		return "", fmt.Errorf("the server lists %q among the objects below %q", key, prefix)
	}
	// A name with leading slashes would be absolute.
	name := path.Clean(strings.TrimLeft(below, "/"))
	if !fs.ValidPath(name) || name == "." {
		return "", fmt.Errorf("the object %q would become a file outside the directory", key)
	}
	local, err := filepath.Localize(name)
	if err != nil {
		return "", fmt.Errorf("the name of the object %q is not valid for a file on this system", key)
	}
	return local, nil
}

// write creates a file, which must not exist, and calls fill to write its content.
func (t *tree) write(name string, fill func(*os.File) error) error {
	if err := t.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := t.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("two objects would become one file: %w", err)
	}
	if err != nil {
		return err
	}
	return errors.Join(fill(file), file.Close())
}

// File creates a file for a single object, as [Download] does for each object. The file must not
// exist, and is private.
func File(name string, fill func(*os.File) error) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(fill(file), file.Close())
}
