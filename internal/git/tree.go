package git

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/internal/packagelimits"
	"github.com/cotterpin/cotter/internal/treewriter"
)

const (
	// maxCommit is in bytes. A commit has a message, and the signed tags of a merge.
	maxCommit = 16 << 20
	// maxTree is in bytes: a directory of 500,000 entries with names of 100 bytes fits.
	maxTree = 64 << 20
	// MaxDepth is far above the limit for a tree on disk; it keeps the list of paths small.
	MaxDepth = 128
)

type Entry struct {
	// Path is relative to the root of the tree, with slashes.
	Path string
	Kind EntryKind
	Exec bool
	// ID is of a blob or tree, or of the commit of a submodule.
	ID string
}

type EntryKind uint8

const (
	File EntryKind = iota
	Dir
	Link
	Submodule
)

// Bits of a mode. Git normalizes the others, which old tools wrote differently, as in 100664.
const (
	modeKind = 0o170000
	modeExec = 0o000100
)

var entryKinds = map[uint64]EntryKind{0o040000: Dir, 0o100000: File, 0o120000: Link, 0o160000: Submodule}

// ReadCommit returns the commit that an object points to, and its tree.
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

// ReadTree reads all trees below one, level by level: each takes one exchange with git. The entries are sorted by
// path, so a directory precedes its contents.
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
			return nil, &packagelimits.Error{Limit: packagelimits.OfEntries, Max: int64(maxEntries)}
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

// readLevel stops after more than left entries, for which the caller has the error.
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

// ParseTree parses entries: the mode in octal, a space, the name, a zero byte, and an object name of idLen bytes. It
// refuses slashes and duplicates, but does not check whether names are safe.
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
			return nil, &treewriter.PathError{Path: dir + "/" + path, Reason: "the name occurs twice"}
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
