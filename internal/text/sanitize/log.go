package sanitize

import (
	"cmp"
	"io"
	"sync"
)

// Log is a writer for text that the log of a build server may show. Build servers read commands in
// what a job prints: GitHub's "::name" at the start of a line, "##[name]" of GitHub and Azure,
// Azure's "##vso[", TeamCity's "##teamcity[", and GitLab's sections, which end with a carriage return
// and an escape sequence. Names of files or modules can look like them, so Log writes a backslash into
// each of them. It is safe for concurrent use.
type Log struct {
	To io.Writer

	mu sync.Mutex
	// begun is true if the line has more than blanks. Bytes of characters outside of ASCII count as
	// blanks, because some of them are.
	begun bool
	// colon is true after a colon that begins a line, carriageReturn after a carriage return.
	colon, carriageReturn bool
	// hashes counts the last characters that are "#", up to two. Letters after two of them do not
	// reset it.
	hashes int
	failed error // by Err
}

// Err returns the first error of To, because nothing looks at the errors of single lines.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// Write writes text. A command is also recognized if its characters are written in several calls.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var changed []byte
	written := 0 // the number of bytes of p that changed has
	for i, c := range p {
		if l.completes(c) {
			changed = append(append(changed, p[written:i]...), '\\')
			written = i
		}
	}
	text := p
	if changed != nil {
		text = append(changed, p[written:]...)
	}
	if _, err := l.To.Write(text); err != nil {
		l.failed = cmp.Or(l.failed, err)
		return 0, err
	}
	return len(p), nil
}

// completes reports whether the next byte completes the beginning of a command.
func (l *Log) completes(c byte) bool {
	command := l.colon && c == ':' || l.hashes == 2 && c == '[' || l.carriageReturn && c == '\x1b'
	l.carriageReturn = c == '\r'
	l.colon = !l.begun && c == ':'
	switch {
	case c == '\n', c == '\r':
		l.begun = false
	case c > ' ' && c < 0x80:
		l.begun = true
	}
	switch letter := c | 0x20; {
	case c == '#':
		l.hashes = min(l.hashes+1, 2)
	case l.hashes < 2 || letter < 'a' || letter > 'z':
		l.hashes = 0
	}
	return command
}
