package worktree

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/git"
)

// In bytes. A packed ref takes about 100.
const (
	maxRef    = 4 << 10
	maxPacked = 32 << 20
)

// HeadCommit returns the commit that a clone has checked out. The error wraps fs.ErrNotExist if root is no clone, or
// has no commit yet. Links, .git files and reftables are not read.
func HeadCommit(root *os.Root) (string, error) {
	head, err := readRef(root, ".git/HEAD")
	if err != nil {
		return "", err
	}
	name, isSymbolic := strings.CutPrefix(head, "ref: ")
	if !isSymbolic {
		return commitOf(head)
	}
	if !strings.HasPrefix(name, git.Heads) || !fs.ValidPath(name) || strings.ContainsAny(name, "\\:") {
		return "", fmt.Errorf("HEAD names %q, which is not a branch", name)
	}
	id, err := readRef(root, path.Join(".git", name))
	if errors.Is(err, fs.ErrNotExist) {
		id, err = packedRef(root, name)
	}
	if err != nil {
		return "", err
	}
	return commitOf(id)
}

func commitOf(id string) (string, error) {
	if !git.IsObjectID(id) {
		return "", fmt.Errorf("%q is not the name of a commit", id)
	}
	return id, nil
}

func readRef(root *os.Root, name string) (string, error) {
	text, err := read(root, name, maxRef)
	return strings.TrimRight(string(text), "\r\n"), err
}

func packedRef(root *os.Root, name string) (string, error) {
	text, err := read(root, ".git/packed-refs", maxPacked)
	if err != nil {
		return "", err
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if id, ref, ok := strings.Cut(lines.Text(), " "); ok && ref == name {
			return id, nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", err
	}
	return "", fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

// read follows no symbolic links.
func read(root *os.Root, name string, limit int64) ([]byte, error) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := root.Lstat(dir)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("%s is not a directory", dir)
		}
	}
	return atomicfile.Read(root, name, limit)
}
