package addrs

import (
	"net/url"
	"strings"
)

// ReplaceArg returns a source address with a new value for an argument of its query.
// Everything else stays as written, even if the address is a shorthand. It reports whether
// the address has the argument exactly once.
func ReplaceArg(address, name, value string) (string, bool) {
	head, query, found := strings.Cut(address, "?")
	if !found {
		return "", false
	}
	query, fragment, hasFragment := strings.Cut(query, "#")
	arguments, replaced := strings.Split(query, "&"), 0
	for i, argument := range arguments {
		if found, _ := splitArgument(argument); found == name {
			written, _, _ := strings.Cut(argument, "=")
			arguments[i] = written + "=" + strings.ReplaceAll(url.QueryEscape(value), "%2F", "/")
			replaced++
		}
	}
	if hasFragment {
		fragment = "#" + fragment
	}
	return head + "?" + strings.Join(arguments, "&") + fragment, replaced == 1
}
