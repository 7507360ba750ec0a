package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/disk/treewriter"
)

const (
	// maxCommit is in bytes. A commit has a message, and the signed tags of a merge.
	maxCommit = 16 << 20
	// maxTree is in bytes: a directory of 500,000 entries with names of 100 bytes fits.
	maxTree = 64 << 20
	// MaxDepth is far above the limit for a tree on disk; it keeps the list of paths small.
	MaxDepth = 128
	// minEntry is what an entry has at least beside its object name, in bytes.
	minEntry = len("40000 x\x00")
)

// Tree lists a package.
type Tree struct {
	// Entries are sorted by path, so a directory precedes its contents.
	Entries []Entry
	// Share must be closed when the package was written.
	packagelimits.Share
	pathBytes int
}

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

// ReadTree reads all trees below one, level by level: each takes one exchange with git. The result must be closed when the
// package was written. If it is large, and another one is being written, ReadTree waits for that until ctx is done, after
// all objects of its own have come.
func ReadTree(ctx context.Context, o Objects, tree string, maxEntries int) (*Tree, error) {
	t := &Tree{}
	if err := t.read(ctx, o, tree, maxEntries); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *Tree) read(ctx context.Context, o Objects, tree string, maxEntries int) error {
	level := []Entry{{ID: tree, Kind: Dir}}
	for depth := 0; len(level) > 0; depth++ {
		if depth > MaxDepth {
			return fmt.Errorf("%w: directories are nested deeper than %d", ErrTooLarge, MaxDepth)
		}
		before := len(t.Entries)
		if err := t.readLevel(ctx, o, level, maxEntries); err != nil {
			return err
		}
		level = level[:0]
		for _, e := range t.Entries[before:] {
			if e.Kind == Dir {
				level = append(level, e)
			}
		}
	}
	slices.SortStableFunc(t.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

func (t *Tree) readLevel(ctx context.Context, o Objects, trees []Entry, maxEntries int) error {
	ids := make([]string, len(trees))
	for i, t := range trees {
		ids[i] = t.ID
	}
	at := 0
	for obj, err := range o.Read(KindTree, ids) {
		if err != nil {
			return err
		}
		read := trees[at]
		at++
		idLen := len(read.ID) / 2
		if err := t.expect(ctx, o, obj.Size/int64(minEntry+idLen)); err != nil {
			return err
		}
		body, err := obj.Bytes(maxTree)
		if err != nil {
			return err
		}
		found, bytes, err := ParseTree(read.Path, body, idLen, maxEntries-len(t.Entries), packagelimits.PathBytes-t.pathBytes)
		if err != nil {
			return fmt.Errorf("git tree %s: %w", read.ID, err)
		}
		if t.pathBytes += bytes; t.pathBytes > packagelimits.PathBytes {
			return &packagelimits.Error{Limit: packagelimits.OfPaths, Max: packagelimits.PathBytes}
		}
		if t.Entries = append(t.Entries, found...); len(t.Entries) > maxEntries {
			return &packagelimits.Error{Limit: packagelimits.OfEntries, Max: int64(maxEntries)}
		}
	}
	return nil
}

// expect waits before the package becomes large by at most so many entries.
func (t *Tree) expect(ctx context.Context, o Objects, more int64) error {
	entries := int64(len(t.Entries)) + more
	if !t.Waits(entries) {
		return nil
	}
	if err := o.Complete(); err != nil { // others must not wait for the server of this one
		return err
	}
	return t.Grow(ctx, entries)
}

// ParseTree parses entries: the mode in octal, a space, the name, a zero byte, and an object name of idLen bytes. It
// refuses slashes and duplicates, but does not check whether names are safe. It stops after more than most entries, or
// paths that together have more than mostBytes; pathBytes is their length.
func ParseTree(dir string, body []byte, idLen, most, mostBytes int) (entries []Entry, pathBytes int, _ error) {
	names := map[string]bool{}
	for len(body) > 0 && len(entries) <= most && pathBytes <= mostBytes {
		head, rest, ok := bytes.Cut(body, []byte{0})
		mode, name, ok2 := bytes.Cut(head, []byte(" "))
		if !ok || !ok2 || len(rest) < idLen {
			return nil, 0, fmt.Errorf("malformed entry in %q", dir)
		}
		bits, err := strconv.ParseUint(string(mode), 8, 32)
		if err != nil {
			return nil, 0, fmt.Errorf("malformed mode %q of %q in %q", mode, name, dir)
		}
		if len(name) == 0 || bytes.IndexByte(name, '/') >= 0 {
			return nil, 0, &treewriter.PathError{Path: dir + "/" + string(name), Reason: "a directory cannot hold such a name"}
		}
		path := string(name)
		if names[path] {
			return nil, 0, &treewriter.PathError{Path: dir + "/" + path, Reason: "the name occurs twice"}
		}
		names[path] = true
		if dir != "" {
			path = dir + "/" + path
		}
		pathBytes += len(path)
		kind, ok := entryKinds[bits&modeKind]
		if !ok {
			return nil, 0, &treewriter.PathError{Path: path, Reason: fmt.Sprintf("the mode %o is not that of a file, directory or link", bits)}
		}
		exec := kind == File && bits&modeExec != 0
		entries = append(entries, Entry{Path: path, Kind: kind, Exec: exec, ID: hex.EncodeToString(rest[:idLen])})
		body = rest[idLen:]
	}
	return entries, pathBytes, nil
}
