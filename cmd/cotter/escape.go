package main

import (
	"fmt"
	"strings"
	"unicode"
)

// escape makes text harmless on a terminal: what is no letter, sign or blank,
// such as control characters and those that reorder or hide text, is written as
// an escape. Lines and tabs stay.
func escape(text string) string { return escapeBut(text, "\n\t") }

// escapeLine is escape for text that is to stay in its line and column.
func escapeLine(text string) string { return escapeBut(text, "") }

// indented is escape for text of several lines, of which all but the first are
// indented: none of them looks like a line of ours.
func indented(text string) string { return escape(strings.ReplaceAll(text, "\n", "\n  ")) }

// lines is an argument of [escapef] that may have several lines.
type lines string

// escapef is fmt.Sprintf with arguments that stay in their lines.
func escapef(format string, args ...any) string {
	safe := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case lines:
			safe[i] = escape(string(arg))
		case string:
			safe[i] = escapeLine(arg)
		case fmt.Stringer:
			safe[i] = escapeLine(arg.String())
		case error:
			safe[i] = escapeLine(arg.Error())
		default:
			safe[i] = arg
		}
	}
	return fmt.Sprintf(format, safe...)
}

func escapeBut(text, plain string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case !isHarmful(r), strings.ContainsRune(plain, r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// isHarmful includes what stands for bytes that are no text.
func isHarmful(r rune) bool { return !unicode.IsGraphic(r) || r == unicode.ReplacementChar }

// escapeJSON makes an encoded value harmless without another meaning. Outside of
// its strings there is nothing to escape.
func escapeJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case !isHarmful(r), r == '\n':
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
