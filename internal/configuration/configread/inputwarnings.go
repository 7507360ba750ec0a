package configread

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// hasConst reports whether a file may have a variable with the argument const.
func hasConst(src []byte) bool {
	return slices.ContainsFunc([]string{"const ", "const=", "const\t", `"const"`}, func(text string) bool { return bytes.Contains(src, []byte(text)) })
}

// inputWarnings returns warnings about inputs of the root module that only stock tools need: files of
// values that are dangling links, and, if there may be any (constants), constant variables without a value.
func (e *evaluation) inputWarnings(s *scope, constants bool) (warnings hcl.Diagnostics) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, _ := s.tree.files.own(s.dir) // readBlocks reports a directory that cannot be listed
	for _, name := range slices.Backward(names) {
		_, err := os.Stat(filepath.Join(s.dir.Path, name))
		if strings.Contains(name, ".auto.") && errors.Is(err, fs.ErrNotExist) {
			warnings = append(warnings, warning("Dangling link", fmt.Sprintf("%s is a link to a file that does not exist. tofu and terraform stop at it.", name), *atLine(s.dir.display(name), 1, 1)))
		}
	}
	if !constants {
		return warnings
	}
	found, _ := e.declarations(s) // a value that depends on what cannot be read is an error then
	for _, name := range slices.Sorted(maps.Keys(found.variables)) {
		declared := found.variables[name]
		v, diags := e.decodeVariable(name, declared)
		if declared.attributes["const"] == nil {
			continue
		}
		for _, diag := range diags {
			warnings = append(warnings, warning(diag.Summary, fmt.Sprintf("%s Whether the variable %q is constant is not known, and %s stops here.", diag.Detail, name, e.reader.tool()), rangeOf(diag)))
		}
		if diags.HasErrors() || !v.constant || !v.required {
			continue
		}
		if _, _, given, diags := e.given(s, v); !given && !diags.HasErrors() {
			warnings = append(warnings, warning("Constant variable without a value", fmt.Sprintf("%s asks for the value of %q, or stops with -input=false. %s", e.reader.tool(), name, v.howToSet()), v.at))
		}
	}
	return warnings
}

func warning(summary, detail string, at hcl.Range) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: detail, Subject: &at}
}
