package git

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/internal/treewriter"
)

const (
	// maxCommit bounds a commit object: a message, and the signed tags of
	// a merge.
	maxCommit = 16 << 20
	// maxTree bounds one directory's tree object: 100,000 entries with
	// names of 255 bytes and some more.
	maxTree = 32 << 20
	// MaxDepth bounds directories within directories. It is far above what
	// a tree on disk may have; it keeps the list of their paths small.
	MaxDepth = 128
)

// Entry is an entry of a tree.
type Entry struct {
	// Path is slash-separated and relative to the root.
	Path string
	Kind EntryKind
	// Exec says that a file is executable.
	Exec bool
	// ID is the name of the blob or tree, or for a submodule of the commit.
	ID string
}

// EntryKind is what an entry is.
type EntryKind uint8

// The kinds of entries.
const (
	File EntryKind = iota
	Dir
	Link
	Submodule
)

// The bits of a mode that hold the kind. Git canonicalises the rest of a mode,
// except that of executable files: old tools wrote 100664.
const (
	modeKind = 0o170000
	modeExec = 0o000100
)

var entryKinds = map[uint64]EntryKind{0o040000: Dir, 0o100000: File, 0o120000: Link, 0o160000: Submodule}

// ReadCommit reads the commit that an object points to. It returns the names of the
// commit and of its tree.
func ReadCommit(o Objects, id string) (commit, tree string, err error) {
	obj, err := o.Commit(id)
	if err != nil {
		return "", "", err
	}
	body, err := obj.Bytes(maxCommit)
	if err != nil {
		return "", "", err
	}
	first, _, _ := bytes.Cut(body, []byte("\n"))
	rest, ok := bytes.CutPrefix(first, []byte("tree "))
	if !ok || !IsObjectID(string(rest)) {
		return "", "", fmt.Errorf("git commit %s names no tree", obj.ID)
	}
	return obj.ID, string(rest), nil
}

// ReadTree reads the tree and all below it, level by level, so that one exchange
// with git serves for a whole level. The entries are sorted by path, so that
// directories come before what is in them.
func ReadTree(o Objects, tree string, maxEntries int) ([]Entry, error) {
	var all []Entry
	level := []Entry{{ID: tree, Kind: Dir}}
	for depth := 0; len(level) > 0; depth++ {
		if depth > MaxDepth {
			return nil, fmt.Errorf("%w: directories are nested deeper than %d", ErrTooLarge, MaxDepth)
		}
		entries, err := readLevel(o, level, maxEntries-len(all))
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
		if len(all) > maxEntries {
			return nil, fmt.Errorf("%w: more than %d entries", ErrTooLarge, maxEntries)
		}
		level = level[:0]
		for _, e := range entries {
			if e.Kind == Dir {
				level = append(level, e)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// readLevel reads the trees of one level. It stops early when there are more
// than left entries, which is the caller's error to report.
func readLevel(o Objects, trees []Entry, left int) ([]Entry, error) {
	ids := make([]string, len(trees))
	for i, t := range trees {
		ids[i] = t.ID
	}
	var entries []Entry
	at := 0
	for obj, err := range o.Read(KindTree, ids) {
		if err != nil {
			return nil, err
		}
		t := trees[at]
		at++
		body, err := obj.Bytes(maxTree)
		if err != nil {
			return nil, err
		}
		found, err := ParseTree(t.Path, body, len(t.ID)/2)
		if err != nil {
			return nil, fmt.Errorf("git tree %s: %w", t.ID, err)
		}
		if entries = append(entries, found...); len(entries) > left {
			return entries, nil
		}
	}
	return entries, nil
}

// ParseTree reads a tree object: for each entry its mode in octal, a space,
// its name, a zero byte and the object's name in idLen bytes. Names are not
// judged here, but that of a path is not an entry's, and two entries cannot
// share one.
func ParseTree(dir string, body []byte, idLen int) ([]Entry, error) {
	var entries []Entry
	names := map[string]bool{}
	for len(body) > 0 {
		head, rest, ok := bytes.Cut(body, []byte{0})
		mode, name, ok2 := bytes.Cut(head, []byte(" "))
		if !ok || !ok2 || len(rest) < idLen {
			return nil, fmt.Errorf("malformed entry in %q", dir)
		}
		bits, err := strconv.ParseUint(string(mode), 8, 32)
		if err != nil {
			return nil, fmt.Errorf("malformed mode %q of %q in %q", mode, name, dir)
		}
		if len(name) == 0 || bytes.IndexByte(name, '/') >= 0 {
			return nil, &treewriter.PathError{Path: dir + "/" + string(name), Reason: "a directory cannot hold such a name"}
		}
		path := string(name)
		if names[path] {
			return nil, &treewriter.PathError{Path: dir + "/" + path, Reason: "it is there twice"}
		}
		names[path] = true
		if dir != "" {
			path = dir + "/" + path
		}
		kind, ok := entryKinds[bits&modeKind]
		if !ok {
			return nil, &treewriter.PathError{Path: path, Reason: fmt.Sprintf("the mode %o is not that of a file, directory or link", bits)}
		}
		exec := kind == File && bits&modeExec != 0
		entries = append(entries, Entry{Path: path, Kind: kind, Exec: exec, ID: hex.EncodeToString(rest[:idLen])})
		body = rest[idLen:]
	}
	return entries, nil
}
