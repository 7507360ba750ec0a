package treewriter

import (
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// foldKey is equal for names that a file system may hold as one: those that
// differ in case, by full case folding, or in Unicode normalisation.
func foldKey(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	// Normalised on both sides of folding, as folding undoes it.
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

// windowsFault says why Windows cannot hold a component; "" if it can.
func windowsFault(component string) string {
	switch {
	case strings.ContainsAny(component, `<>:"|?*`):
		return `the name holds one of <>:"|?*, which Windows does not allow`
	case strings.HasSuffix(component, ".") || strings.HasSuffix(component, " "):
		return "the name ends in a dot or a space, which Windows drops"
	case isReserved(component):
		return "the name is that of a device on Windows"
	}
	return ""
}

// isReserved reports whether Windows takes a component for a device: by what
// is before its first dot, without trailing spaces.
func isReserved(component string) bool {
	base, _, _ := strings.Cut(component, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	if !strings.HasPrefix(base, "COM") && !strings.HasPrefix(base, "LPT") {
		return false
	}
	digit := []rune(base[len("COM"):])
	return len(digit) == 1 && strings.ContainsRune("0123456789¹²³", digit[0])
}

// checkPortable counts, or refuses, a new entry that other systems cannot hold.
func (w *Writer) checkPortable(name string) error {
	component := name[strings.LastIndexByte(name, '/')+1:]
	if reason := windowsFault(component); reason != "" {
		if w.limits.Portable || runtime.GOOS == "windows" {
			return &PathError{Path: name, Reason: reason}
		}
		w.noteUnportable(fmt.Sprintf("%q: %s", name, reason))
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
	w.noteUnportable(fmt.Sprintf("%q: %s", name, clashReason(other)))
	return nil
}

func clashReason(other string) string {
	return fmt.Sprintf("the name differs from %q only in case or Unicode normalisation", other)
}

func (w *Writer) noteUnportable(example string) {
	if w.unportable == 0 {
		w.example = example
	}
	w.unportable++
}

// Warnings says what the user should know of the tree: at most one line about
// links that were left out, and one about names that other systems cannot hold.
func (w *Writer) Warnings() []string {
	var warnings []string
	if text := w.leftOutWarning(); text != "" {
		warnings = append(warnings, text)
	}
	if w.unportable == 0 {
		return warnings
	}
	text := "the package cannot be installed on every system: " + w.example
	if more := w.unportable - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more names like this)", more)
	}
	return append(warnings, text)
}
