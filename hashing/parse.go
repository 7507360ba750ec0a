package hashing

import (
	"errors"
	"strconv"
	"strings"
)

// What can be wrong with a line of the text form.
var (
	errHeader     = errors.New("the first line is not " + strconv.Quote(textHeader))
	errUnfinished = errors.New("the last line is cut off")
	errFields     = errors.New("wrong number of fields")
	errSize       = errors.New("not a size in bytes")
	errSum        = errors.New("not a SHA-256 in lower-case hexadecimal digits")
)

// ParseTree reads what [Tree.MarshalText] wrote. It is strict: it accepts no
// tree that [ReadTree] could not have returned, and one text only for each
// tree. Errors are *[SyntaxError]. The caller has to limit the length of the
// text.
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
			return nil, &SyntaxError{Line: number, Err: errTooMany}
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

// parseEntry reads one line. The paths are checked later.
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
	e.Path = fields[wanted-1]
	if e.Kind == Link {
		e.Target = fields[1]
	}
	if !e.isFile() {
		return e, nil
	}
	var err error
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
