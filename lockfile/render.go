package lockfile

import (
	"fmt"
	"strings"
	"unicode"
)

// newHeader is the header of a file that was empty. Stock tools replace it with
// their own when they rewrite the file.
const newHeader = `# This file is maintained automatically by "cotter install", which keeps the
# module blocks, and by "tofu init" or "terraform init", which keep the
# provider blocks. Manual edits may be lost in future updates.
`

// newHeaderOf is newHeader for a project that uses one stock tool.
const newHeaderOf = `# This file is maintained automatically by "cotter install", which keeps the
# module blocks, and by "%s init", which keeps the provider blocks.
# Manual edits may be lost in future updates.
`

// header returns the header of a file that was empty.
func (f *File) header() string {
	if f.tool == "" {
		return newHeader
	}
	return fmt.Sprintf(newHeaderOf, f.tool)
}

// render returns a module's block, without a final newline.
func (e *entry) render() string {
	var groups []string
	m := e.module
	switch {
	case m.Version == "":
		groups = append(groups, attribute("source = ", m.Source))
	default:
		groups = append(groups, attribute("version = ", m.Version)+attribute("source  = ", m.Source))
	}
	if m.Constraints != "" {
		groups = append(groups, attribute("constraints = ", m.Constraints))
	}
	if m.Package != "" {
		groups = append(groups, attribute("package = ", m.Package))
	}
	var hashes strings.Builder
	hashes.WriteString("  hashes = [\n")
	for _, h := range m.normal().Hashes {
		hashes.WriteString("    " + quote(string(h)) + ",\n")
	}
	groups = append(groups, hashes.String()+"  ]\n")
	if e.block != nil {
		for _, extra := range e.block.extras {
			groups = append(groups, extra+"\n")
		}
	}
	return "module " + quote(m.Key) + " {\n" + strings.Join(groups, "\n") + "}"
}

func attribute(name, value string) string { return "  " + name + quote(value) + "\n" }

// quote returns a string as an HCL literal. It escapes quotes, templates and all
// characters that are not printable.
func quote(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t':
			out.WriteString(`\t`)
		case (r == '$' || r == '%') && strings.HasPrefix(s[i+1:], "{"):
			out.WriteRune(r)
			out.WriteRune(r)
		case unicode.IsPrint(r):
			out.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	out.WriteByte('"')
	return out.String()
}
