package view

import (
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// Indented escapes text, and indents all lines but the first, so that they do not look like messages.
func Indented(text string) string {
	return sanitize.EscapeLines(strings.ReplaceAll(text, "\n", "\n  "))
}

// Lines is an argument of [Escapef] that keeps its line breaks.
type Lines string

// Escapef is fmt.Sprintf with escaped arguments on one line, except for [Lines].
func Escapef(format string, args ...any) string {
	safe := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case Lines:
			safe[i] = sanitize.EscapeLines(string(arg))
		case string:
			safe[i] = sanitize.Escape(arg)
		case fmt.Stringer:
			safe[i] = sanitize.Escape(arg.String())
		case error:
			safe[i] = sanitize.Escape(arg.Error())
		default:
			safe[i] = arg
		}
	}
	return fmt.Sprintf(format, safe...)
}

// EscapeJSON escapes unprintable characters in the strings of an encoded JSON value, and "##", with which
// commands for build servers begin (see [sanitize.Log]). The value does not change.
func EscapeJSON(text string) string {
	var b strings.Builder
	var last rune
	for _, r := range text {
		switch {
		case r == '#' && last == '#':
			b.WriteString(`\u0023`)
		case sanitize.Printable(r), r == '\n':
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		last = r
	}
	return b.String()
}
