package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/text/lazyregexp"
)

// Count returns a number with its noun, such as "3 modules".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// CountBoth returns "3 modules and 1 provider", without a number that is 0.
func CountBoth(n int, noun string, others int, otherNoun string) string {
	return Both(n, Count(n, noun), others, Count(others, otherNoun))
}

// Both joins two texts, without the one of a number that is 0.
func Both(n int, text string, others int, other string) string {
	switch {
	case others == 0:
		return text
	case n == 0:
		return other
	}
	return text + " and " + other
}

// Size formats a number of bytes in decimal units, such as "1.5 MB".
func Size(bytes int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	value := float64(bytes)
	unit := ""
	for _, unit = range units {
		if value /= 1000; value < 999.5 {
			break
		}
	}
	if value < 9.95 {
		return fmt.Sprintf("%.1f %s", value, unit)
	}
	return fmt.Sprintf("%.0f %s", value, unit)
}

// Seconds formats a duration as "4.2 s" or "2 min 5 s".
func Seconds(d time.Duration) string {
	switch s := d.Seconds(); {
	case s < 0.995:
		return fmt.Sprintf("%.2f s", s)
	case s < 9.95:
		return fmt.Sprintf("%.1f s", s)
	case s < 119.5:
		return fmt.Sprintf("%.0f s", s)
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// SomeOf enumerates at most this many names, and says how many more there are.
func SomeOf(names []string, most int) string {
	if rest := len(names) - most; rest > 0 {
		names = append(slices.Clone(names[:most]), fmt.Sprintf("%d more", rest))
	}
	return Enumeration(names)
}

// MaxNamed is the maximum number of projects that a sentence names.
const MaxNamed = 6

// Alternatives joins words as in "a, b or c".
func Alternatives(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// Enumeration joins words as in "a, b and c".
func Enumeration(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// PlainWord is what all shells take literally.
var PlainWord = lazyregexp.New(`^[A-Za-z0-9_./:@%+=][A-Za-z0-9_./:@%+=-]*$`)

// ShellWord quotes a word for a shell, if it must be.
func ShellWord(word string) string {
	if PlainWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Short shortens a commit or a digest, and no other text.
func Short(revision string) string {
	const commit, digits = 40, 12
	scheme, value, ok := strings.Cut(revision, ":")
	if !ok {
		scheme, value = "", revision
	} else if scheme == "sha256" || scheme == "sha512" {
		scheme += ":"
	} else {
		return revision
	}
	if len(value) < commit || strings.Trim(value, "0123456789abcdef") != "" {
		return revision
	}
	return scheme + value[:digits]
}

// Dash returns a text, or "-" in place of none.
func Dash(text string) string { return cmp.Or(text, "-") }
