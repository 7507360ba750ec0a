package signing

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxSums limits a document of sums, in bytes.
const MaxSums = 1 << 20

// Kinds of failure of a document of sums.
var (
	ErrNoSum    = errors.New("the document of sums does not list the file")
	ErrOtherSum = errors.New("the document of sums has another sum for the file")
)

type Sums struct {
	lines     []sumLine
	malformed bool // whether a line is
}

type sumLine struct{ sum, name string }

// ParseSums parses the lines of a document. The caller limits its size.
func ParseSums(document []byte) Sums {
	var sums Sums
	for line := range bytes.SplitSeq(document, []byte("\n")) {
		fields := strings.Fields(string(line))
		if len(fields) == 0 {
			continue
		}
		if parsed, ok := parseLine(fields); ok {
			sums.lines = append(sums.lines, parsed)
		} else {
			sums.malformed = true
		}
	}
	return sums
}

// parseLine parses a sum and a name, which any white space separates, as for stock tools.
func parseLine(fields []string) (sumLine, bool) {
	if len(fields) != 2 {
		return sumLine{}, false
	}
	sum, name := strings.ToLower(fields[0]), strings.TrimPrefix(fields[1], "*")
	if !isSum(sum) || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return sumLine{}, false
	}
	return sumLine{sum: sum, name: name}, true
}

func isSum(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// Check checks that the document lists a file with this sum, 64 lower-case hexadecimal digits, and no
// other. Names must be identical. The error wraps [ErrNoSum] or [ErrOtherSum].
func (s Sums) Check(name, sum string) error {
	found := false
	for _, line := range s.lines {
		if line.name != name {
			continue
		}
		if line.sum != sum {
			return fmt.Errorf("%w: %q has %s, want %s", ErrOtherSum, name, line.sum, sum)
		}
		found = true
	}
	if !found {
		return fmt.Errorf("%w %q", ErrNoSum, name)
	}
	return nil
}

// All returns the sums of all files, sorted and without duplicates, which a lock records once the signature
// is checked; nil if a line is malformed, because stock tools then record none.
func (s Sums) All() []string {
	if s.malformed {
		return nil
	}
	var all []string
	for _, line := range s.lines {
		all = append(all, line.sum)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
