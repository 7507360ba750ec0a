package gitexec

import "strings"

// setting is an entry of the user's configuration.
type setting struct {
	// section and key are in lower case. sub is the subsection as it is written; "" if there is none.
	section, sub, key string
	value             string
	// hasValue is false for a key without "=", which is a true boolean.
	hasValue bool
}

// parseSettings parses the output of "git config --list -z". An entry is a name and, if it has a
// value, a newline and the value. A zero byte ends each entry.
func parseSettings(list string) []setting {
	var all []setting
	for _, entry := range SplitNames(list) {
		var s setting
		var name, rest string
		name, s.value, s.hasValue = strings.Cut(entry, "\n")
		s.section, rest, _ = strings.Cut(name, ".")
		dot := strings.LastIndexByte(rest, '.')
		s.sub, s.key = rest[:max(0, dot)], rest[dot+1:]
		all = append(all, s)
	}
	return all
}
