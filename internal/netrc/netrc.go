// Package netrc parses netrc files, in which curl, git and stock tools find passwords for
// servers.
//
// The format is that of GNU ftp, as curl reads it. It consists of words that are separated by
// spaces or enclosed in double quotes, in which a backslash escapes the next character. "machine
// HOST" begins an entry, followed by "login NAME" and "password SECRET". "account NAME" is
// skipped, and so is "macdef NAME" up to the next empty line. A "#" in the place of one of these
// keywords begins a comment.
//
// A "default" entry, which other programs use for all servers without their own entry, is
// skipped: its password would be sent to any server that an address names.
package netrc

import (
	"bytes"
	"strings"
)

// File is the content of a netrc file. The zero value is an empty file.
type File struct{ entries []entry }

type entry struct{ host, login, password string }

// Parse parses a file. Like other programs, it skips what it does not understand, because the
// file may be meant for any of them.
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
			rest = afterLine(rest)
			continue
		case word == "default":
			current = &entry{} // not added to f
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

// Find returns the first entry for a host. host has the form HOST, or HOST:PORT if the port is
// not the default one.
func (f File) Find(host string) (login, password string, found bool) {
	for _, e := range f.entries {
		if e.host == strings.ToLower(host) {
			return e.login, e.password, true
		}
	}
	return "", "", false
}

// next returns the next word and the text after it.
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
	return "", nil, false // the closing quote is missing
}

func afterLine(src []byte) []byte {
	_, rest, _ := bytes.Cut(src, []byte("\n"))
	return rest
}
