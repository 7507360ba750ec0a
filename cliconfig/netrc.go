package cliconfig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
)

// HTTPCredentials returns the user name and the password for the server of a URL from the user's netrc
// file, as [Netrc] does. The file is read when it is first needed. The error is ctx's, or says why it
// cannot be read.
//
// HTTPCredentials is a [github.com/cotterpin/cotter/getmodules.HTTPCredentials].
func (c *Config) HTTPCredentials(ctx context.Context, at *url.URL) (*url.Userinfo, error) {
	find, err := c.netrc.get(ctx, c.readNetrc)
	if err != nil {
		return nil, err
	}
	return find(ctx, at)
}

// Netrc returns a function that finds the user name and the password for the server of a URL in this
// content of a netrc file. It returns nil if no entry matches, and never an error. A port is part of the
// server's name, unless it is 443 with https.
//
// The format is that of GNU ftp, as curl reads it. Words are separated by spaces or enclosed in double
// quotes, in which a backslash escapes the next character. "machine HOST" begins an entry, followed by
// "login NAME" and "password SECRET". "account NAME" is skipped, and so is "macdef NAME" up to the next
// empty line. A "#" in the place of these keywords begins a comment, and everything else is skipped.
//
// So is a "default" entry, which other programs use for all servers without their own entry: its password
// would be sent to any server that an address names.
func Netrc(content []byte) getmodules.HTTPCredentials {
	entries := parseNetrc(content)
	return func(_ context.Context, at *url.URL) (*url.Userinfo, error) {
		host := at.Host
		if at.Port() == "443" && at.Scheme == "https" {
			host = at.Hostname()
		}
		i := slices.IndexFunc(entries, func(e netrcEntry) bool { return e.host == strings.ToLower(host) })
		if i < 0 {
			return nil, nil
		}
		return url.UserPassword(entries[i].login, entries[i].password), nil
	}
}

func (c *Config) readNetrc(ctx context.Context) (getmodules.HTTPCredentials, error) {
	if c.netrcFile.name == "" {
		return Netrc(nil), nil
	}
	src, err := atomicfile.ReadUser(ctx, c.netrcFile.name, maxFile)
	switch {
	case err == nil, atomicfile.IsAbsent(err):
		return Netrc(src), nil
	case isDirectory(c.netrcFile.name) && !c.netrcFile.named: // as in containers that mount what does not exist
		return Netrc(nil), nil
	case errors.Is(err, fs.ErrPermission) && !c.netrcFile.named:
		c.warn(fmt.Sprintf("The credentials for http are skipped: %s", err))
		return Netrc(nil), nil
	}
	return Netrc(nil), fmt.Errorf("the user's credentials for http: %w", err)
}

func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

type netrcEntry struct{ host, login, password string }

func parseNetrc(src []byte) (entries []netrcEntry) {
	var current *netrcEntry
	for rest := src; ; {
		var word string
		var ok bool
		if word, rest, ok = nextWord(rest); !ok {
			return entries
		}
		switch {
		case strings.HasPrefix(word, "#"):
			rest = afterLine(rest)
			continue
		case word == "default":
			current = &netrcEntry{} // not added to entries
			continue
		case word == "macdef":
			_, rest, _ = bytes.Cut(rest, []byte("\n\n"))
			continue
		}
		var value string
		if value, rest, ok = nextWord(rest); !ok {
			return entries
		}
		switch {
		case word == "machine":
			entries = append(entries, netrcEntry{host: strings.ToLower(value)})
			current = &entries[len(entries)-1]
		case current == nil:
		case word == "login":
			current.login = value
		case word == "password":
			current.password = value
		}
	}
}

func nextWord(src []byte) (word string, rest []byte, ok bool) {
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
