package getmodules

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/internal/gitcmd"
	"github.com/cotterpin/cotter/internal/treewriter"
)

const (
	// maxGitCommit bounds a commit object: a message, and the signed tags of
	// a merge.
	maxGitCommit = 16 << 20
	// maxGitTree bounds one directory's tree object: 100,000 entries with
	// names of 255 bytes and some more.
	maxGitTree = 32 << 20
	// maxGitDepth bounds directories within directories. It is far above what
	// a tree on disk may have; it keeps the list of their paths small.
	maxGitDepth = 128
)

// gitEntry is an entry of a tree, with its path from the root.
type gitEntry struct {
	path string
	mode uint32
	id   string
}

// The kinds of entries, in the bits that hold them. Git canonicalises the rest
// of a mode, and so do we: old tools wrote 100664.
const (
	gitModeKind = 0o170000
	gitModeDir  = 0o040000
	gitModeFile = 0o100000
	gitModeLink = 0o120000
	gitModeLeaf = 0o160000 // a gitlink: a commit of another repository
	gitModeExec = 0o000100
)

// readGitCommit reads the commit that name leads to.
func readGitCommit(o gitSource, name string) (id, tree string, err error) {
	o.ask(name + "^{commit}")
	obj, err := o.next("commit")
	if err != nil {
		return "", "", err
	}
	body, err := obj.bytes(maxGitCommit)
	if err != nil {
		return "", "", err
	}
	first, _, _ := bytes.Cut(body, []byte("\n"))
	rest, ok := bytes.CutPrefix(first, []byte("tree "))
	if !ok || !gitcmd.IsObjectID(string(rest)) {
		return "", "", fmt.Errorf("git commit %s names no tree", obj.id)
	}
	return obj.id, string(rest), nil
}

// listGitTree reads the tree and all below it, level by level, so that one exchange
// with git serves for a whole level. The entries are sorted by path, so that
// directories come before what is in them.
func listGitTree(o gitSource, tree string, maxEntries int) ([]gitEntry, error) {
	var all []gitEntry
	level := []gitEntry{{id: tree, mode: gitModeDir}}
	for depth := 0; len(level) > 0; depth++ {
		if depth > maxGitDepth {
			return nil, fmt.Errorf("%w: directories are nested deeper than %d", ErrTooLarge, maxGitDepth)
		}
		entries, err := listGitLevel(o, level, maxEntries-len(all))
		if err != nil {
			return nil, err
		}
		all = append(all, entries...)
		if len(all) > maxEntries {
			return nil, fmt.Errorf("%w: more than %d entries", ErrTooLarge, maxEntries)
		}
		level = level[:0]
		for _, e := range entries {
			if e.mode&gitModeKind == gitModeDir {
				level = append(level, e)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b gitEntry) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// listGitLevel reads the trees of one level. It stops early when there are more
// than left entries, which is the caller's error to report.
func listGitLevel(o gitSource, trees []gitEntry, left int) ([]gitEntry, error) {
	ids := make([]string, len(trees))
	for i, t := range trees {
		ids[i] = t.id
	}
	o.ask(ids...)
	var entries []gitEntry
	for _, t := range trees {
		obj, err := o.next("tree")
		if err != nil {
			return nil, err
		}
		body, err := obj.bytes(maxGitTree)
		if err != nil {
			return nil, err
		}
		found, err := parseGitTree(t.path, body, len(t.id)/2)
		if err != nil {
			return nil, fmt.Errorf("git tree %s: %w", t.id, err)
		}
		if entries = append(entries, found...); len(entries) > left {
			return entries, nil
		}
	}
	return entries, nil
}

// parseGitTree reads a tree object: for each entry its mode in octal, a space,
// its name, a zero byte and the object's name in idLen bytes. Names are not
// judged here, but that of a path is not an entry's, and two entries cannot
// share one.
func parseGitTree(dir string, body []byte, idLen int) ([]gitEntry, error) {
	var entries []gitEntry
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
		entries = append(entries, gitEntry{path: path, mode: uint32(bits), id: hex.EncodeToString(rest[:idLen])})
		body = rest[idLen:]
	}
	return entries, nil
}
