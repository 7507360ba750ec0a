package hashing

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// textHeader is the first line of a tree's text form, with the version of the format.
const textHeader = "cotter tree 1"

// MarshalText returns the tree as text for [ParseTree]: a line with the version of the format, and then a
// line for each entry, in the order of the paths. Its fields are separated by tabs. In paths and targets, a tab is
// written as "\t" and a backslash as "\\"; all other bytes are written as they are:
//
//	f	size	sum	path    a file; its sum is in hexadecimal
//	x	size	sum	path    an executable file
//	l	target	path        a link
//	d	path                an empty directory
//
// The error is nil for trees from [ReadTree] and [ParseTree]; otherwise it can be a *[TreeError].
func (t *Tree) MarshalText() (text []byte, err error) {
	if i, err := check(slices.Clone(t.Entries)); err != nil {
		return nil, &TreeError{Path: t.Entries[i].Path, Err: err}
	}
	text = append(text, textHeader+"\n"...)
	for _, e := range t.Entries {
		switch {
		case e.isFile():
			text = fmt.Appendf(text, "%c\t%d\t%x\t%s\n", e.Kind, e.Size, e.Sum, escaped.Replace(e.Path))
		case e.Kind == Link:
			text = fmt.Appendf(text, "%c\t%s\t%s\n", e.Kind, escaped.Replace(e.Target), escaped.Replace(e.Path))
		default:
			text = fmt.Appendf(text, "%c\t%s\n", e.Kind, escaped.Replace(e.Path))
		}
	}
	return text, nil
}

var (
	escaped   = strings.NewReplacer(`\`, `\\`, "\t", `\t`)
	unescaped = strings.NewReplacer(`\\`, `\`, `\t`, "\t")
)

// parseName accepts only what escaped writes.
func parseName(field string) (string, error) {
	if strings.IndexByte(field, '\\') < 0 {
		return field, nil // as almost all are
	}
	name := unescaped.Replace(field)
	if escaped.Replace(name) != field {
		return "", errEscape
	}
	return name, nil
}

// check checks untrusted entries. It returns the index of the first invalid one.
func check(entries []Entry) (int, error) {
	for i, e := range entries {
		switch {
		case e.isFile() && e.Size < 0:
			return i, errSize
		case kinds[e.Kind] == "":
			return i, errKind
		}
		if err := checkPath(e.Path); err != nil {
			return i, err
		}
	}
	return settle(entries)
}

func checkText(path string) error {
	if reason := pathsafe.ReadText(path); reason != "" {
		return errors.New("the path " + reason)
	}
	return nil
}

func checkPath(path string) error {
	if err := checkText(path); err != nil {
		return err
	}
	if path == "." || !pathsafe.IsName(path) {
		return errPath
	}
	for name := range strings.SplitSeq(path, "/") {
		if pathsafe.IsMetadata(name) {
			return errMetadata
		}
	}
	return nil
}

const sumHexLength = 2 * len(Entry{}.Sum)

func parseSum(s string) (sum [32]byte, err error) {
	if len(s) != sumHexLength || strings.ToLower(s) != s {
		return sum, errSum
	}
	if _, err := hex.Decode(sum[:], []byte(s)); err != nil {
		return sum, errSum
	}
	return sum, nil
}

var (
	errHeader     = errors.New("the first line is not " + strconv.Quote(textHeader))
	errUnfinished = errors.New("the last line is truncated")
	errFields     = errors.New("wrong number of fields")
	errSize       = errors.New("not a size in bytes")
	errEscape     = errors.New("a backslash that begins no escape")
	errSum        = errors.New("not a SHA-256 in lower-case hexadecimal digits")
)

// ParseTree parses the text of [Tree.MarshalText]. It accepts only trees that [ReadTree] can return, and
// one text for each. The caller must limit the length. The error is a *[SyntaxError].
func ParseTree(text []byte) (*Tree, error) {
	var entries []Entry
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line, complete := strings.CutSuffix(line, "\n")
		switch {
		case number == 1 && line != textHeader:
			return nil, &SyntaxError{Line: 1, Err: errHeader}
		case !complete:
			return nil, &SyntaxError{Line: number, Err: errUnfinished}
		case number == 1:
			continue
		case len(entries) == maxEntries:
			return nil, &SyntaxError{Line: number, Err: tooMany(maxEntries)}
		}
		e, err := parseEntry(line)
		if err != nil {
			return nil, &SyntaxError{Line: number, Err: err}
		}
		entries = append(entries, e)
	}
	if number == 0 {
		return nil, &SyntaxError{Line: 1, Err: errHeader}
	}
	if i, err := check(entries); err != nil {
		return nil, &SyntaxError{Line: i + 2, Err: err}
	}
	return &Tree{Entries: entries}, nil
}

func parseEntry(line string) (Entry, error) {
	fields := strings.Split(line, "\t")
	var e Entry
	if len(fields[0]) == 1 {
		e.Kind = Kind(fields[0][0])
	}
	wanted := 0
	switch e.Kind {
	case File, ExecFile:
		wanted = 4
	case Link:
		wanted = 3
	case EmptyDir:
		wanted = 2
	default:
		return Entry{}, errKind
	}
	if len(fields) != wanted {
		return Entry{}, errFields
	}
	var err error
	if e.Path, err = parseName(fields[wanted-1]); err != nil {
		return Entry{}, err
	}
	if e.Kind == Link {
		e.Target, err = parseName(fields[1])
		return e, err
	}
	if e.Kind == EmptyDir {
		return e, nil
	}
	if e.Size, err = parseSize(fields[1]); err != nil {
		return Entry{}, err
	}
	e.Sum, err = parseSum(fields[2])
	return e, err
}

func parseSize(s string) (int64, error) {
	size, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(size, 10) != s {
		return 0, errSize
	}
	return size, nil
}
