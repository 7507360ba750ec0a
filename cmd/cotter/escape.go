package main

import (
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/internal/sanitize"
)

// indented escapes text of several lines, and indents all lines but the first, so that
// they do not look like separate messages.
func indented(text string) string {
	return sanitize.EscapeLines(strings.ReplaceAll(text, "\n", "\n  "))
}

// lines is an argument of [escapef] that keeps its line breaks.
type lines string

// escapef is fmt.Sprintf with escaped arguments. Escaping keeps each argument on one line,
// except for [lines].
func escapef(format string, args ...any) string {
	safe := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case lines:
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

// escapeJSON escapes the unprintable characters of an encoded JSON value without changing
// the value. Such characters can only be in its strings.
func escapeJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case sanitize.Printable(r), r == '\n':
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
