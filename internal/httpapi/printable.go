package httpapi

import (
	"strconv"
	"strings"
)

// maxPrintable is the longest foreign text that a message repeats.
const maxPrintable = 1024

// Printable is foreign text for a message: cut at a length that does not flood
// the screen, and with an escape in the place of whatever could move the cursor,
// reverse the direction, or is not text at all.
func Printable(s string) string {
	cut := len(s) > maxPrintable
	if cut {
		s = s[:maxPrintable]
	}
	var out strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) {
			out.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteRuneToASCII(r)
		out.WriteString(quoted[1 : len(quoted)-1])
	}
	if cut {
		out.WriteString("...")
	}
	return out.String()
}
