package gitdir

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

type Setting struct {
	// Section and Name are in lower case.
	Section, Subsection, Name string
	Value                     string
}

// ParseConfig follows no includes. A variable without a value, which is true, has an empty Value. Errors have the
// line number.
func ParseConfig(text string) ([]Setting, error) {
	p := parser{rest: strings.ReplaceAll(text, "\r\n", "\n"), line: 1}
	for p.rest != "" {
		if err := p.item(); err != nil {
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
	}
	return p.found, nil
}

type parser struct {
	rest                string
	line                int
	section, subsection string
	found               []Setting
}

// item consumes at least one byte.
func (p *parser) item() error {
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
		return errors.New("expected a variable or a section")
	}
	return nil
}

func (p *parser) skipLine() {
	end := strings.IndexByte(p.rest, '\n')
	if end < 0 {
		end = len(p.rest)
	}
	p.rest = p.rest[end:]
}

// header parses [name] or [name "subsection"].
func (p *parser) header() error {
	head, rest, ok := strings.Cut(p.rest[1:], "]")
	if quote := strings.IndexByte(head, '"'); quote < 0 {
		if !ok || strings.Trim(head, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") != "" {
			return errors.New("the name of the section is not valid")
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
				return errors.New("the section header has text after its name")
			}
			p.section, p.subsection = strings.ToLower(strings.TrimRight(name, " \t")), sub.String()
			p.rest = quoted[i+2:]
			return nil
		case '\n':
			return errors.New("the name of the section is not terminated")
		case '\\':
			if i++; i == len(quoted) {
				return errors.New("the name of the section is not terminated")
			}
			fallthrough
		default:
			sub.WriteByte(quoted[i])
		}
	}
	return errors.New("the name of the section is not terminated")
}

// variable parses "name = value", or a name alone.
func (p *parser) variable() error {
	end := 0
	for end < len(p.rest) && (isLetter(p.rest[end]) || p.rest[end] == '-' || '0' <= p.rest[end] && p.rest[end] <= '9') {
		end++
	}
	setting := Setting{Section: p.section, Subsection: p.subsection, Name: strings.ToLower(p.rest[:end])}
	p.rest = strings.TrimLeft(p.rest[end:], " \t")
	var err error
	switch {
	case p.section == "":
		err = errors.New("the variable is outside of any section")
	case strings.HasPrefix(p.rest, "="):
		p.rest = strings.TrimLeft(p.rest[1:], " \t")
		setting.Value, err = p.value()
	case p.rest != "" && !strings.ContainsAny(p.rest[:1], "\n#;"):
		err = fmt.Errorf("%q is not followed by an equals sign", setting.Name)
	}
	p.found = append(p.found, setting)
	return err
}

func (p *parser) value() (string, error) {
	var value strings.Builder
	quoted, kept := false, 0 // kept is the length without trailing blanks
	for ; p.rest != ""; p.rest = p.rest[1:] {
		switch c := p.rest[0]; {
		case c == '\n' && quoted:
			return "", errors.New("the quoted value is not terminated")
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
		return "", errors.New("the quoted value is not terminated")
	}
	return value.String()[:kept], nil
}

// escape leaves the last byte of a sequence to value.
func (p *parser) escape(value *strings.Builder) error {
	if len(p.rest) < 2 {
		return errors.New("the file ends after a backslash")
	}
	p.rest = p.rest[1:]
	switch c := p.rest[0]; c {
	case '\n': // the value continues on the next line
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
		return fmt.Errorf("%q is not a valid escape sequence", `\`+string(c))
	}
	return nil
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// IsTrue takes unknown words for true, because git refuses them.
func IsTrue(value string) bool {
	return !slices.Contains([]string{"", "0", "no", "off", "false"}, strings.ToLower(value))
}
