package getmodules

import (
	"errors"
	"fmt"
	"strings"
)

// gitSetting is one variable of a git configuration file.
type gitSetting struct {
	section, subsection, name string // section and name in lower case
	value                     string
}

// parseGitConfig reads a git configuration file, in the format of
// git-config(1), without what it includes. It is stricter than git where git
// guesses. (The parser of go-git does not come to an end on some input.)
func parseGitConfig(text string) ([]gitSetting, error) {
	p := gitConfigParser{rest: strings.ReplaceAll(text, "\r\n", "\n"), line: 1}
	for p.rest != "" {
		if err := p.item(); err != nil {
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
	}
	return p.found, nil
}

type gitConfigParser struct {
	rest                string
	line                int
	section, subsection string
	found               []gitSetting
}

// item reads a blank, a comment, a header or a variable: always at least a
// byte.
func (p *gitConfigParser) item() error {
	switch c := p.rest[0]; {
	case c == '\n':
		p.line++
		p.rest = p.rest[1:]
	case c == ' ' || c == '\t':
		p.rest = p.rest[1:]
	case c == '#' || c == ';':
		p.skipLine()
	case c == '[':
		return p.header()
	case isLetter(c):
		return p.variable()
	default:
		return errors.New("there is no variable and no section")
	}
	return nil
}

// skipLine leaves the end of the line to item.
func (p *gitConfigParser) skipLine() {
	end := strings.IndexByte(p.rest, '\n')
	if end < 0 {
		end = len(p.rest)
	}
	p.rest = p.rest[end:]
}

// header reads [name] or [name "subsection"].
func (p *gitConfigParser) header() error {
	head, rest, ok := strings.Cut(p.rest[1:], "]")
	if quote := strings.IndexByte(head, '"'); quote < 0 {
		if !ok || strings.Trim(head, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") != "" {
			return errors.New("the section has no valid name")
		}
		p.section, p.subsection, p.rest = strings.ToLower(head), "", rest
		return nil
	}
	name, quoted, _ := strings.Cut(p.rest[1:], `"`)
	var sub strings.Builder
	for i := 0; i < len(quoted); i++ {
		switch c := quoted[i]; c {
		case '"':
			if !strings.HasPrefix(quoted[i:], `"]`) {
				return errors.New("the section does not end behind its name")
			}
			p.section, p.subsection = strings.ToLower(strings.TrimRight(name, " \t")), sub.String()
			p.rest = quoted[i+2:]
			return nil
		case '\n':
			return errors.New("the name of the section does not end")
		case '\\':
			if i++; i == len(quoted) {
				return errors.New("the name of the section does not end")
			}
			fallthrough
		default:
			sub.WriteByte(quoted[i])
		}
	}
	return errors.New("the name of the section does not end")
}

// variable reads "name = value", or a name alone, which is a bool.
func (p *gitConfigParser) variable() error {
	end := 0
	for end < len(p.rest) && (isLetter(p.rest[end]) || p.rest[end] == '-' || '0' <= p.rest[end] && p.rest[end] <= '9') {
		end++
	}
	setting := gitSetting{section: p.section, subsection: p.subsection, name: strings.ToLower(p.rest[:end])}
	p.rest = strings.TrimLeft(p.rest[end:], " \t")
	var err error
	switch {
	case p.section == "":
		err = errors.New("the variable is in no section")
	case strings.HasPrefix(p.rest, "="):
		p.rest = strings.TrimLeft(p.rest[1:], " \t")
		setting.value, err = p.value()
	case p.rest != "" && !strings.ContainsAny(p.rest[:1], "\n#;"):
		err = fmt.Errorf("%q is no variable", setting.name)
	}
	p.found = append(p.found, setting)
	return err
}

// value reads what is behind the equals sign, to the end of the line.
func (p *gitConfigParser) value() (string, error) {
	var value strings.Builder
	quoted, kept := false, 0 // kept is the length without trailing blanks
	for ; p.rest != ""; p.rest = p.rest[1:] {
		switch c := p.rest[0]; {
		case c == '\n' && quoted:
			return "", errors.New("the value is quoted and does not end")
		case c == '\n':
			return value.String()[:kept], nil
		case (c == '#' || c == ';') && !quoted:
			p.skipLine()
			return value.String()[:kept], nil
		case c == '"':
			quoted = !quoted
			kept = value.Len()
		case c == '\\':
			if err := p.escape(&value); err != nil {
				return "", err
			}
			kept = value.Len()
		default:
			value.WriteByte(c)
			if quoted || c != ' ' && c != '\t' {
				kept = value.Len()
			}
		}
	}
	if quoted {
		return "", errors.New("the value is quoted and does not end")
	}
	return value.String()[:kept], nil
}

// escape reads what is behind a backslash, and leaves its last byte to value.
func (p *gitConfigParser) escape(value *strings.Builder) error {
	if len(p.rest) < 2 {
		return errors.New("there is nothing behind the backslash")
	}
	p.rest = p.rest[1:]
	switch c := p.rest[0]; c {
	case '\n': // the value goes on
		p.line++
	case 'n':
		value.WriteByte('\n')
	case 't':
		value.WriteByte('\t')
	case 'b':
		value.WriteByte('\b')
	case '"', '\\':
		value.WriteByte(c)
	default:
		return fmt.Errorf("%q is no escape", `\`+string(c))
	}
	return nil
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
