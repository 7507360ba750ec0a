package worktree

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/git"
)

const (
	// maxNames bounds a list of files, in bytes.
	maxNames = 64 << 20
	// maxEntries is also for trees and the index: a file takes about 250 bytes.
	maxEntries = 512 << 20
)

type object struct{ mode, id string }

const (
	modeLink    = "120000"
	modeGitlink = "160000"
	modeProgram = "100755"
)

var errAnswer = errors.New("unexpected answer from git")

type indexEntry struct {
	object
	// skip is for a sparse checkout.
	skip bool
	// seen is the file when it was last equal; zero if that is not known.
	seen fileState
}

// fileState is what the index records, truncated to 32 bits.
type fileState struct {
	modified, changed timestamp
	inode, size       uint32
}

type timestamp struct{ sec, nsec uint32 }

func timestampOf(t time.Time) timestamp {
	return timestamp{uint32(t.Unix()), uint32(t.Nanosecond())} //nolint:gosec // truncated as in the index
}

func (w *Tree) indexEntries(ctx context.Context) (map[string]indexEntry, error) {
	out, err := w.git.Output(ctx, w.command("ls-files", "--stage", "--debug", "-t", "-z"), maxEntries)
	if err != nil {
		return nil, err
	}
	return parseIndex(string(out))
}

// parseIndex gives a file with a merge conflict the zero object.
func parseIndex(list string) (map[string]indexEntry, error) {
	entries := map[string]indexEntry{}
	for rest := list; rest != ""; {
		var line string
		var ok bool
		if line, rest, ok = strings.Cut(rest, "\x00"); !ok {
			return nil, fmt.Errorf("%w: %q", errAnswer, line)
		}
		fields, name, _ := strings.Cut(line, "\t")
		parts := strings.Split(fields, " ")
		if len(parts) != 4 || name == "" || !git.IsObjectID(parts[2]) {
			return nil, fmt.Errorf("%w: %q", errAnswer, line)
		}
		entry := indexEntry{object: object{parts[1], parts[2]}, skip: strings.EqualFold(parts[0], "S")}
		entry.seen, rest = parseState(rest)
		if parts[3] != "0" {
			entry = indexEntry{}
		}
		entries[name] = entry
	}
	return entries, nil
}

// stateLayout precedes the numbers in the lines of --debug.
var stateLayout = [...]string{
	"  ctime: ", ":", "\n  mtime: ", ":", "\n  dev: ", "\tino: ", "\n  uid: ", "\tgid: ", "\n  size: ", "\tflags: ",
}

// parseState returns the text after the lines of --debug. They are for people, so another format counts as no
// state, and the content is compared.
func parseState(text string) (state fileState, rest string) {
	rest = text
	for strings.HasPrefix(rest, "  ") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	var numbers [len(stateLayout)]uint32
	for i, before := range stateLayout {
		after, ok := strings.CutPrefix(text, before)
		digits := len(after) - len(strings.TrimLeft(after, "0123456789"))
		number, err := strconv.ParseUint(after[:digits], 10, 32)
		if !ok || err != nil {
			return fileState{}, rest
		}
		numbers[i], text = uint32(number), after[digits:]
	}
	return fileState{
		changed:  timestamp{numbers[0], numbers[1]},
		modified: timestamp{numbers[2], numbers[3]},
		inode:    numbers[5],
		size:     numbers[8],
	}, rest
}
