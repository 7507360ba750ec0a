package httpapi

import "github.com/cotterpin/cotter/internal/sanitize"

// maxPrintable is how many bytes of foreign text a message repeats.
const maxPrintable = 1024

// Printable returns foreign text for a message: escaped for terminals, and cut
// at a length that does not flood the screen.
func Printable(s string) string { return sanitize.Excerpt(s, maxPrintable) }
