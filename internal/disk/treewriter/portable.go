package treewriter

import (
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/cotterpin/cotter/internal/disk/pathsafe"
)

// foldKey is equal for names that a file system may treat as the same: by full case folding, or by Unicode
// normalization.
func foldKey(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	// Folding undoes normalization.
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(name)))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// checkPortable counts or refuses an entry that other systems cannot store, and counts one that is not shown as
// what it is.
func (w *Writer) checkPortable(name string) error {
	component := name[strings.LastIndexByte(name, '/')+1:]
	if reason, portable := pathsafe.Unusual(component); reason != "" {
		reason = "the name " + reason
		if !portable && (w.limits.Portable || runtime.GOOS == "windows") {
			return &PathError{Path: name, Reason: reason}
		}
		w.noteUnusual(name, reason, portable)
	}
	key := foldKey(name)
	other, clashes := w.folded[key]
	if !clashes {
		w.folded[key] = name
		return nil
	}
	if w.limits.Portable {
		return &PathError{Path: name, Reason: clashReason(other)}
	}
	w.noteUnusual(name, clashReason(other), false)
	return nil
}

func clashReason(other string) string {
	return fmt.Sprintf("the name differs from %q only in case or Unicode normalization", other)
}

// noteUnusual keeps the first name that some system cannot store as the example, or else the first one.
func (w *Writer) noteUnusual(name, reason string, portable bool) {
	if w.unusual == 0 || w.portable && !portable {
		w.example, w.portable = fmt.Sprintf("%q: %s", name, reason), portable
	}
	w.unusual++
}

// Warnings has at most one line about links that were left out, and one about unusual names.
func (w *Writer) Warnings() []string {
	var warnings []string
	if text := w.leftOutWarning(); text != "" {
		warnings = append(warnings, text)
	}
	if w.unusual == 0 {
		return warnings
	}
	text := "the package cannot be installed on every system: " + w.example
	if w.portable {
		text = "the package has names that are not shown as they are: " + w.example
	}
	if more := w.unusual - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more names like this)", more)
	}
	return append(warnings, text)
}
