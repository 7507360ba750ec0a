package hashing

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPathBytes bounds paths and link targets. Linux opens no longer ones, and
// it bounds how deep the walk goes.
const maxPathBytes = 4096

// textFault says why a text is fit for no path and no link target, if so.
func textFault(s string) string {
	switch {
	case len(s) > maxPathBytes:
		return fmt.Sprintf("longer than %d bytes", maxPathBytes)
	case !utf8.ValidString(s):
		return "not valid UTF-8"
	case strings.ContainsFunc(s, unicode.IsControl):
		return "has control characters"
	}
	return ""
}

// checkText checks a path that is well-formed otherwise.
func checkText(path string) error {
	if reason := textFault(path); reason != "" {
		return errors.New("the path is bad: " + reason)
	}
	return nil
}

// checkPath checks the path of an entry that was not walked to.
func checkPath(path string) error {
	if err := checkText(path); err != nil {
		return err
	}
	if path == "." || !fs.ValidPath(path) {
		return errPath
	}
	for name := range strings.SplitSeq(path, "/") {
		if isMetadata(name) {
			return errMetadata
		}
	}
	return nil
}

// isMetadata reports whether a name is that of version control metadata,
// whatever it names: submodules and worktrees have files called .git.
func isMetadata(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".bzr":
		return true
	}
	return false
}
