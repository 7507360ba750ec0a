package configread_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/testenv"
)

// providerReferences are provider arguments, valid or not, by kind.
var providerReferences = []providerReference{
	{"name", `null.b`}, {"name", `null-x`}, {"name", ` null.b`}, {"name", `null.b /*c*/`}, {"name", `null.1`}, {"name", `Null.b`}, {"name", `a_b.c`},
	{"key", `null.b[each.key]`}, {"key", `null.b[each.key] `}, {"key", `null.b["x"]`}, {"key", `null.b[0]`}, {"key", `null.b[local.x]`},
	{"key", `null.b[lower(each.key)]`}, {"key", `null.b["a"+1]`}, {"key", `null.b[null.c]`}, {"key", `null-x.b[0]`}, {"key", `null[0]`}, {"key", `null[each.key]`},
	{"path", `null.b.c`}, {"path", `null.b[each.key].c`}, {"path", `null.b[each.key][0]`}, {"path", `null.b["x"]["y"]`}, {"path", `null.b[*]`}, {"path", `null.b.*`}, {"path", `null.b.0`},
	{"expression", `(null.b)`}, {"expression", `(null.b)[0]`}, {"expression", `1 + 1`}, {"expression", `var.x`}, {"expression", `true`}, {"expression", `[null]`},
	{"text", `"null"`}, {"text", `"null.b"`}, {"text", `"null.b[0]"`}, {"text", `"null.b[each.key]"`}, {"text", `"${null.b}"`}, {"text", `"Null"`}, {"text", `"null"[0]`},
}

// onlyJSON would be syntax errors of a whole file in the native syntax, or no argument.
var onlyJSON = []providerReference{
	{"JSON", `null.b[each.key]x`}, {"JSON", `null`}, {"JSON", `1null`}, {"JSON", `null.b[`}, {"JSON", `null.b[each.key`}, {"JSON", "null.b\n[0]"}, {"JSON", ``},
	{"template", `${null.b}`}, {"template", `${null.b[each.key]}`}, {"template", `$${null}`},
}

type providerReference struct{ kind, text string }

// The real tools decide which provider arguments are valid, in both syntaxes.
func TestProviderReferencesLikeStock(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"tofu", "terraform"} {
		for _, file := range []string{"main.tf", "main.tf.json"} {
			t.Run(tool+"/"+file, func(t *testing.T) {
				t.Parallel()
				binary := testenv.Program(t, tool)
				references := providerReferences
				if file == "main.tf.json" {
					references = append(slices.Clone(references), onlyJSON...)
				}
				for _, row := range testenv.Sample(references, func(r providerReference) string { return r.kind }) {
					reference := row.text
					text := fmt.Sprintf("resource \"x_y\" \"r\" {\n  for_each = {}\n  provider = %s\n}\n", reference)
					if file == "main.tf.json" {
						quoted, err := json.Marshal(reference)
						testenv.Must(t, err)
						text = fmt.Sprintf(`{"resource": {"x_y": {"r": {"for_each": {}, "provider": %s}}}}`, quoted)
					}
					got := requirementsOf(t, configread.Reader{Terraform: tool == "terraform"}, "-- "+file+" --\n"+text)
					if accepts := !strings.Contains(got, "error"); accepts != stockAccepts(t, binary, file, text) {
						t.Errorf("%q: %q; %s accepts it: %v", reference, got, tool, !accepts)
					}
				}
			})
		}
	}
}

var stockError = regexp.MustCompile(`(?m)^Error: ([^\n]*)\n\n  on main\.tf`)

// noSuchInstance is the summary of tofu's error about a valid reference to a configuration that does
// not exist.
const noSuchInstance = "Invalid resource provider configuration"

func stockAccepts(t *testing.T, binary, file, text string) bool {
	t.Helper()
	dir := t.TempDir()
	testenv.Must(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
	cmd := exec.Command(binary, "providers", "-no-color")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		return true
	}
	found := stockError.FindAllStringSubmatch(string(out), -1)
	if len(found) == 0 {
		t.Fatalf("%q: %v\n%s", text, err, out)
	}
	return !slices.ContainsFunc(found, func(match []string) bool { return match[1] != noSuchInstance })
}
