package gitdir

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/text/lazyregexp"
)

type Setting struct {
	// Section and Name are in lower case.
	Section, Subsection, Name string
	Value                     string
}

// Parts of the format of git-config(1). A value is made of plain characters, escapes and quoted parts.
const (
	escapes  = `\\[\nntb"\\]`
	quoted   = `"(?:[^"\\\n]|` + escapes + `)*"`
	section  = `\[([a-zA-Z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]`
	variable = `([a-zA-Z][a-zA-Z0-9-]*)[ \t]*(?:=((?:[^"\\#;\n]|` + escapes + `|` + quoted + `)*))?(?:[#;][^\n]*)?(?:\n|$)`
	nothing  = `[ \t\n]+|[#;][^\n]*`
)

var (
	item          = lazyregexp.New(`^(?:` + nothing + `|` + section + `|` + variable + `)`)
	unescapeName  = regexp.MustCompile(`\\(.)`)
	unescapeValue = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n", `\t`, "\t", `\b`, "\b", "\\\n", "", `"`, "")
)

// ParseConfig follows no includes. A variable without a value, which is true, has an empty Value. Errors have the
// line number.
func ParseConfig(text string) (found []Setting, err error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var in Setting
	for rest := text; rest != ""; {
		m := item().FindStringSubmatch(rest)
		if m == nil || m[3] != "" && in.Section == "" {
			line := 1 + strings.Count(text[:len(text)-len(rest)], "\n")
			return nil, fmt.Errorf("line %d: this is not a section or variable of a git configuration", line)
		}
		rest = rest[len(m[0]):]
		switch {
		case m[1] != "":
			in = Setting{Section: strings.ToLower(m[1]), Subsection: unescapeName.ReplaceAllString(m[2], "$1")}
		case m[3] != "":
			in.Name, in.Value = strings.ToLower(m[3]), unescapeValue.Replace(strings.Trim(m[4], " \t"))
			found = append(found, in)
		}
	}
	return found, nil
}

// IsTrue takes unknown words for true, because git refuses them.
func IsTrue(value string) bool {
	return !slices.Contains([]string{"", "0", "no", "off", "false"}, strings.ToLower(value))
}
