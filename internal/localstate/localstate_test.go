package localstate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/localstate"
)

// resources returns a state that has one resource of each provider.
func resources(providers ...string) string {
	var list []string
	for _, p := range providers {
		list = append(list, `{"mode": "managed", "type": "a", "name": "b", "provider": "`+strings.ReplaceAll(p, `"`, `\"`)+`"}`)
	}
	return `{"version": 4, "resources": [` + strings.Join(list, ", ") + `]}`
}

// Each row has a state, and the expected providers or a part of the expected error.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, workspace string
		files           map[string]string
		file, providers string
		unknown, err    string
	}{
		{name: "nothing", workspace: "default"},
		{name: "an empty file", workspace: "default", files: map[string]string{"terraform.tfstate": "\n"}},
		{
			name: "a state", workspace: "default",
			files: map[string]string{"terraform.tfstate": resources(
				`provider["reg.example.com/acme/a"]`, `module.m.provider["reg.example.com/acme/b"].west`,
				`provider["reg.example.com/acme/a"].east`, `provider["terraform.io/builtin/terraform"]`,
			)},
			file: "terraform.tfstate", providers: "reg.example.com/acme/a reg.example.com/acme/b",
		},
		{
			name: "the state of a workspace", workspace: "prod",
			files: map[string]string{"terraform.tfstate.d/prod/terraform.tfstate": resources(`provider["reg.example.com/acme/a"]`)},
			file:  "terraform.tfstate.d/prod/terraform.tfstate", providers: "reg.example.com/acme/a",
		},
		{name: "a workspace that is not known", unknown: "the selected workspace is not known"},
		{name: "a workspace that is a path", workspace: "../a", unknown: "the selected workspace is not known"},
		{name: "a state of version 3", workspace: "default", files: map[string]string{"terraform.tfstate": `{"version": 3}`}, unknown: "of another version"},
		{
			name: "a state with more in it", workspace: "default",
			files: map[string]string{"terraform.tfstate": `{"serial": 1, "outputs": {"o": {"value": [1, {}]}},
				"resources": [{"provider": "provider[\"reg.example.com/acme/a\"]", "instances": [{"attributes": {"provider": "x"}}]}], "Version": 4, "check_results": null}`},
			file: "terraform.tfstate", providers: "reg.example.com/acme/a",
		},
		{name: "a state without resources", workspace: "default", files: map[string]string{"terraform.tfstate": `{"version": 4, "resources": null}`}, file: "terraform.tfstate"},
		{name: "a truncated state", workspace: "default", files: map[string]string{"terraform.tfstate": strings.TrimSuffix(resources(`provider["reg.example.com/acme/a"]`), "]}")}, unknown: "of another version"},
		{name: "text behind a state", workspace: "default", files: map[string]string{"terraform.tfstate": resources() + "{}"}, unknown: "of another version"},
		{name: "a list", workspace: "default", files: map[string]string{"terraform.tfstate": `[]`}, unknown: "of another version"},
		{name: "a directory", workspace: "default", files: map[string]string{"terraform.tfstate/x": ""}, unknown: "cannot be read"},
		{name: "a malformed address", workspace: "default", files: map[string]string{"terraform.tfstate": resources(`provider["a b"]`)}, unknown: "of another version"},
		{name: "a legacy address", workspace: "default", files: map[string]string{"terraform.tfstate": resources(`provider.a`)}, err: "legacy"},
		{name: "a backend", workspace: "default", files: map[string]string{"main.tf": "terraform {\n  backend \"s3\" {}\n}\n"}, unknown: "a backend keeps it"},
		{name: "a former backend", workspace: "default", files: map[string]string{".terraform/terraform.tfstate": `{"backend": {}}`}, unknown: "a backend keeps it"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range row.files {
				name = filepath.Join(dir, filepath.FromSlash(name))
				if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			got, err := localstate.Read(t.Context(), localstate.Project{Dir: dir, DataDir: filepath.Join(dir, ".terraform"), Workspace: row.workspace})
			if row.err != "" {
				if !errors.Is(err, localstate.ErrLegacyProvider) || !strings.Contains(err.Error(), row.err) {
					t.Errorf("error is %v, want ErrLegacyProvider with %q", err, row.err)
				}
				return
			}
			if err != nil || (got.Unknown == "") != (row.unknown == "") || !strings.Contains(got.Unknown, row.unknown) {
				t.Errorf("error is %v, unknown %q, want %q", err, got.Unknown, row.unknown)
			}
			var providers []string
			for _, p := range got.Providers {
				providers = append(providers, p.String())
			}
			if diff := cmp.Diff([]string{row.file, row.providers}, []string{got.File, strings.Join(providers, " ")}); diff != "" {
				t.Errorf("file and providers (-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever a state contains, its providers are addresses that can be installed, without
// duplicates.
func FuzzParse(f *testing.F) {
	f.Add([]byte(resources(`provider["reg.example.com/acme/a"].west`, `module.m.provider.a`)))
	f.Add([]byte(`{"version": 4, "resources": [{"provider": "provider[\"acme/a\"]"}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		providers, err := localstate.Parse(bytes.NewReader(src), addrs.Parser{})
		var whole struct {
			Version   int
			Resources []struct{ Module, Mode, Type, Name, Provider string }
		}
		if wrong := json.Unmarshal(src, &whole); (wrong != nil || whole.Version != 4) && err == nil {
			t.Errorf("%q is read as a state, with %d providers: %v", src, len(providers), wrong)
		}
		seen := make(map[addrs.Provider]bool)
		for _, p := range providers {
			again, err := addrs.ParseProviderSource(p.String())
			if err != nil || again != p || p.IsBuiltIn() || p.IsLegacy() || seen[p] {
				t.Errorf("%q has provider %q: %v", src, p, err)
			}
			seen[p] = true
		}
		if err != nil && len(providers) > 0 {
			t.Errorf("%q has an error and providers: %v", src, err)
		}
	})
}
