package git

import (
	"bytes"
	"fmt"
	"iter"
)

// HistoryLimits bound what is fetched to find commits in a history.
type HistoryLimits struct {
	// Commits bounds the number of commits that are read.
	Commits int
	// Bytes bounds the size of all transfers together, in bytes.
	Bytes int64
}

// HistoryLimitError means that a history exceeds the limits. It wraps [ErrTooLarge].
type HistoryLimitError struct{ Limits HistoryLimits }

func (e *HistoryLimitError) Error() string {
	return fmt.Sprintf("more than %d commits or %d bytes of the history would have to be read", e.Limits.Commits, e.Limits.Bytes)
}

// Unwrap returns [ErrTooLarge].
func (e *HistoryLimitError) Unwrap() error { return ErrTooLarge }

// History is a part of a repository's history: the commits that were read, with their parents.
type History struct {
	// Limits bound the history.
	Limits HistoryLimits

	bytes   int64
	parents map[string][]string // nil for objects that are not commits
}

// NewHistory returns an empty history.
func NewHistory(limits HistoryLimits) *History {
	return &History{Limits: limits, parents: map[string][]string{}}
}

// Left returns how much more may be read.
func (h *History) Left() HistoryLimits {
	return HistoryLimits{Commits: h.Limits.Commits - len(h.parents), Bytes: max(0, h.Limits.Bytes-h.bytes)}
}

// Received counts the bytes of a transfer.
func (h *History) Received(bytes int64) { h.bytes += bytes }

// Has reports whether the commit was read.
func (h *History) Has(id string) bool {
	_, ok := h.parents[id]
	return ok
}

// Add adds a commit with its content, which the caller has compared with its name. The error
// wraps [ErrTooLarge] if there are too many commits.
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

// AddOther adds an object that a tag points to and that is not a commit. It has no history.
func (h *History) AddOther(id string) { h.parents[id] = nil }

// Collect adds the commits in the history of the refs, as far as read has them. read returns
// nil for a commit that it does not have. If stop is not empty, Collect ends once it has met all
// commits in stop. It reports whether it has met them.
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

// tip is a branch or a tag.
type tip struct {
	name string
	Ref
}

// walk yields the commits in the history of the tips, each with the first tip that has it.
// missing is called with the commits that were not read. These are also yielded, because a
// commit that was read names them.
func (h *History) walk(tips []tip, missing func(id string)) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		seen := map[string]bool{}
		for _, t := range tips {
			stack := []string{t.Commit}
			for len(stack) > 0 {
				id := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				if seen[id] {
					continue
				}
				seen[id] = true
				if !yield(id, t.name) {
					return
				}
				if !h.Has(id) {
					missing(id)
					continue
				}
				stack = append(stack, h.parents[id]...)
			}
		}
	}
}

// ParseParents returns the parents in the content of a commit. As in git, they are in the lines
// that directly follow the first, which has the tree.
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
