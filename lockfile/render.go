package lockfile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
)

// The headers of a file that was empty, by what it locks. Stock tools replace them when they rewrite it.
const (
	headerOfModules = `# This file is maintained automatically by "cotter install", which keeps the
# module blocks, and by "tofu init" or "terraform init", which keep the
# provider blocks. Manual edits may be lost in future updates.
`
	headerOfModulesFor = `# This file is maintained automatically by "cotter install", which keeps the
# module blocks, and by "%s init", which keeps the provider blocks.
# Manual edits may be lost in future updates.
`
	headerOfBoth = `# This file is maintained automatically by "cotter install" and %s.
# Manual edits may be lost in future updates.
`
	// headerOfProviders is the header of stock tools.
	headerOfProviders = `# This file is maintained automatically by %s.
# Manual edits may be lost in future updates.
`
)

// ownHeader is the beginning of all headers except those of stock tools.
const ownHeader = `# This file is maintained automatically by "cotter install"`

func stockHeader(src []byte) string {
	comment := commentAtStart(src)
	for _, tool := range []string{`"tofu init"`, `"terraform init"`} {
		if comment == fmt.Sprintf(headerOfProviders, tool) {
			return comment
		}
	}
	return ""
}

// renamedHeader returns a header with a stock tool's name in place of the other's; "" if the comment is not
// a generated header, or does not name just the other tool.
func renamedHeader(comment, tool string) string {
	other := map[string]string{"tofu": "terraform", "terraform": "tofu"}[tool]
	if other == "" {
		return ""
	}
	for _, header := range []string{fmt.Sprintf(headerOfProviders, `"%s init"`), fmt.Sprintf(headerOfBoth, `"%s init"`), headerOfModulesFor} {
		if comment == fmt.Sprintf(header, other) {
			return fmt.Sprintf(header, tool)
		}
	}
	return ""
}

// commentAtStart returns the lines at the start that begin with "#", with LF as the line end.
func commentAtStart(src []byte) string {
	return withNewline(string(src[:endOfComment(src)]), "\n")
}

func endOfComment(src []byte) int {
	end := 0
	for line := range bytes.Lines(src) {
		if line[0] != '#' {
			break
		}
		end += len(line)
	}
	return end
}

func (f *File) header() string {
	if f.ofFile != "" {
		return strings.TrimSuffix(f.ofFile, "\n") + "\n"
	}
	tools := `"tofu init" or "terraform init"`
	if f.tool != "" {
		tools = fmt.Sprintf(`"%s init"`, f.tool)
	}
	switch {
	case len(f.modules.entries) == 0:
		return fmt.Sprintf(headerOfProviders, tools)
	case len(f.providers.entries) > 0:
		return fmt.Sprintf(headerOfBoth, tools)
	case f.tool == "":
		return headerOfModules
	}
	return fmt.Sprintf(headerOfModulesFor, f.tool)
}

// render returns a block in the layout of new ones, without a final newline.
func render[V value[V]](v V) string { return v.header() + " {\n" + v.content().lines("  ") + "}" }

// quote returns an HCL literal. It escapes quotes, templates and all characters that are not printable.
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
