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

// providerReferences are provider arguments, valid or not. Those in onlyJSON would be syntax errors
// of a whole file in the native syntax, or no argument.
var (
	providerReferences = []string{
		`null.b`, `null-x`, ` null.b`, `null.b /*c*/`, `null.b[each.key]`, `null.b[each.key] `, `null.b["x"]`, `null.b[0]`, `null.b[local.x]`,
		`null.b[lower(each.key)]`, `null.b["a"+1]`, `null.b[null.c]`, `null-x.b[0]`, `null[0]`, `null[each.key]`, `null.b.c`, `null.b[each.key].c`,
		`null.b[each.key][0]`, `null.b["x"]["y"]`, `null.b[*]`, `null.b.*`, `null.b.0`, `null.1`, `Null.b`, `a_b.c`, `(null.b)`, `(null.b)[0]`, `1 + 1`,
		`var.x`, `true`, `[null]`, `"null"`, `"null.b"`, `"null.b[0]"`, `"null.b[each.key]"`, `"${null.b}"`, `"Null"`, `"null"[0]`,
	}
	onlyJSON = []string{
		`null`, `1null`, `null.b[each.key]x`, `null.b[`, `null.b[each.key`, `${null.b}`, `${null.b[each.key]}`, `$${null}`, "null.b\n[0]", ``,
	}
)

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
				for _, reference := range testenv.Sample(references) {
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
