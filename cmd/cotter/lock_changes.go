package main

import (
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/text/textform"
)

const maxExclusions = 3

// becauseOf returns a text such as `, because "~> 2.0" (main.tf:3) excludes 1.4.0`, or "".
func becauseOf(all []records.Exclusion, old string) string {
	if len(all) == 0 {
		return ""
	}
	var names []string
	for _, one := range all[:min(len(all), maxExclusions)] {
		name := fmt.Sprintf("%q", one.Constraint)
		if one.File != "" {
			name += fmt.Sprintf(" (%s:%d)", one.File, one.Line)
		}
		names = append(names, name)
	}
	if rest := len(all) - len(names); rest > 0 {
		names = append(names, view.Count(rest, "other constraint"))
	}
	verb := "excludes"
	if len(all) > 1 {
		verb = "exclude"
	}
	return fmt.Sprintf(", because %s %s %s", view.Enumeration(names), verb, old)
}

// consequences says what a changed version means for the caller, and which files have changed.
func consequences(change installer.LockChange) []string {
	lines := interfaceLines(change.Interface)
	var files []string
	for _, group := range changedFiles(change.Files) {
		if n := len(group.files); n > 0 {
			files = append(files, fmt.Sprintf("%d %s", n, group.label))
		}
	}
	if files != nil {
		lines = append(lines, "files: "+strings.Join(files, ", "))
	}
	return lines
}

// markdownCell returns text as a code span, which can neither end a cell of a table nor be markup.
func markdownCell(text string) string {
	if text == "" {
		return ""
	}
	// Some programs read a backslash before \| as one that escapes the other.
	text = strings.NewReplacer("`", "'", `\|`, `\ \|`, "|", `\|`, "\n", `\n`).Replace(text)
	return "`" + text + "`"
}

func (o *output) shownExclusions(dir string, all []records.Exclusion) []records.Exclusion {
	return lists.WithEach(all, func(one *records.Exclusion) { one.File = textform.Path(o.ShownFile(dir, string(one.File))) })
}
