// Package netrc reads the file in which curl, git and stock tools look for
// passwords of servers.
//
// The format is that of the GNU project's ftp, as curl reads it: words between
// spaces, or in double quotes, in which a backslash takes the next character as
// it is. "machine HOST" begins an entry, "login NAME" and "password SECRET" say
// the rest; "account NAME" is passed over, and so is "macdef NAME" up to the
// next empty line. A "#" where one of these is expected begins a comment.
//
// What the package does not do: a "default" entry, which other programs use for
// all servers without one, counts for none. Whoever wrote it did not mean to
// give a password to each server that an address may name.
package netrc

import (
	"bytes"
	"strings"
)

// File is what a file has. The zero value has nothing.
type File struct{ entries []entry }

type entry struct{ host, login, password string }

// Parse reads a file. What it does not understand it passes over, as other
// programs do: the file is not only for us.
func Parse(src []byte) File {
	var f File
	var current *entry
	for rest := src; ; {
		var word string
		var ok bool
		if word, rest, ok = next(rest); !ok {
			return f
		}
		switch {
		case strings.HasPrefix(word, "#"):
			rest = behindLine(rest)
			continue
		case word == "default":
			current = &entry{} // that of nobody
			continue
		case word == "macdef":
			_, rest, _ = bytes.Cut(rest, []byte("\n\n"))
			continue
		}
		var value string
		if value, rest, ok = next(rest); !ok {
			return f
		}
		switch {
		case word == "machine":
			f.entries = append(f.entries, entry{host: strings.ToLower(value)})
			current = &f.entries[len(f.entries)-1]
		case current == nil:
		case word == "login":
			current.login = value
		case word == "password":
			current.password = value
		}
	}
}

// Find is the first entry for a host, which has its port behind a colon where
// that is not the usual one.
func (f File) Find(host string) (login, password string, found bool) {
	for _, e := range f.entries {
		if e.host == strings.ToLower(host) {
			return e.login, e.password, true
		}
	}
	return "", "", false
}

// next is the next word, and what is behind it.
func next(src []byte) (word string, rest []byte, ok bool) {
	src = bytes.TrimLeft(src, " \t\r\n")
	if len(src) == 0 {
		return "", nil, false
	}
	if src[0] != '"' {
		end := bytes.IndexAny(src, " \t\r\n")
		if end < 0 {
			end = len(src)
		}
		return string(src[:end]), src[end:], true
	}
	var quoted []byte
	for i := 1; i < len(src); i++ {
		switch {
		case src[i] == '"':
			return string(quoted), src[i+1:], true
		case src[i] == '\\' && i+1 < len(src):
			i++
		}
		quoted = append(quoted, src[i])
	}
	return "", nil, false // it is never closed
}

func behindLine(src []byte) []byte {
	_, rest, _ := bytes.Cut(src, []byte("\n"))
	return rest
}
