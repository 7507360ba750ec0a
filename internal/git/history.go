package git

import (
	"bytes"
	"fmt"
)

// HistoryLimits bound what is fetched to find commits in a history.
type HistoryLimits struct {
	Commits int
	// Bytes bounds all transfers together.
	Bytes int64
}

// HistoryLimitError means that a history exceeds the limits. It wraps [ErrTooLarge].
type HistoryLimitError struct{ Limits HistoryLimits }

func (e *HistoryLimitError) Error() string {
	return fmt.Sprintf("more than %d commits or %d bytes of the history would have to be read", e.Limits.Commits, e.Limits.Bytes)
}

func (e *HistoryLimitError) Unwrap() error { return ErrTooLarge }

// History has the commits that were read, with their parents.
type History struct {
	Limits HistoryLimits

	bytes   int64
	parents map[string][]string // nil for objects that are not commits
}

func NewHistory(limits HistoryLimits) *History {
	return &History{Limits: limits, parents: map[string][]string{}}
}

func (h *History) Left() HistoryLimits {
	return HistoryLimits{Commits: h.Limits.Commits - len(h.parents), Bytes: max(0, h.Limits.Bytes-h.bytes)}
}

func (h *History) Received(bytes int64) { h.bytes += bytes }

func (h *History) Has(id string) bool {
	_, ok := h.parents[id]
	return ok
}

// Add adds a commit, whose content was compared with its name.
func (h *History) Add(id string, content []byte) error {
	if h.Has(id) {
		return nil
	}
	if len(h.parents) >= h.Limits.Commits {
		return fmt.Errorf("%w: the history has more than %d commits", ErrTooLarge, h.Limits.Commits)
	}
	parents, err := ParseParents(content)
	if err != nil {
		return fmt.Errorf("commit %s: %w", id, err)
	}
	h.parents[id] = parents
	return nil
}

// AddOther adds what a tag points to and is not a commit.
func (h *History) AddOther(id string) { h.parents[id] = nil }

// Collect adds the commits in the history of the refs, as far as read has them (nil if not). It ends once it
// has met all commits in stop, if there are any, and reports whether it has.
func (h *History) Collect(refs []Ref, stop []string, read func(id string) ([]byte, error)) (met bool, err error) {
	unmet := map[string]bool{}
	for _, id := range stop {
		unmet[id] = true
	}
	seen := map[string]bool{}
	var queue []string
	for _, ref := range refs {
		queue = append(queue, ref.Commit)
	}
	for len(queue) > 0 && (len(unmet) > 0 || len(stop) == 0) {
		id := queue[0]
		queue = queue[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		delete(unmet, id)
		if !h.Has(id) {
			content, err := read(id)
			if err != nil {
				return false, err
			}
			if content == nil {
				continue
			}
			if err := h.Add(id, content); err != nil {
				return false, err
			}
		}
		queue = append(queue, h.parents[id]...)
	}
	return len(unmet) == 0, nil
}

type tip struct {
	name string
	Ref
}

// ParseParents reads the lines after the first, which has the tree, as git does.
func ParseParents(content []byte) ([]string, error) {
	line, rest, _ := bytes.Cut(content, []byte("\n"))
	tree, ok := bytes.CutPrefix(line, []byte("tree "))
	if !ok || !IsObjectID(string(tree)) {
		return nil, fmt.Errorf("%w: a commit names no tree", ErrDamaged)
	}
	var parents []string
	for {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		parent, ok := bytes.CutPrefix(line, []byte("parent "))
		if !ok {
			return parents, nil
		}
		if len(parent) != len(tree) || !IsObjectID(string(parent)) {
			return nil, fmt.Errorf("%w: a commit has a malformed parent", ErrDamaged)
		}
		parents, rest = append(parents, string(parent)), after
	}
}
