// Package lazyregexp compiles regular expressions on first use, because that takes long and few runs need all of them.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles an expression on its first call. It panics then if the expression is invalid.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
