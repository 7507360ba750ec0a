package localstate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/localstate"
	"github.com/cotterpin/cotter/internal/testenv"
)

func resources(providers ...string) string {
	var list []string
	for _, p := range providers {
		list = append(list, `{"mode": "managed", "type": "a", "name": "b", "provider": "`+strings.ReplaceAll(p, `"`, `\"`)+`"}`)
	}
	return `{"version": 4, "resources": [` + strings.Join(list, ", ") + `]}`
}

// row has the files of a project, and the expected providers or a part of the expected error.
type row struct {
	name, workspace string
	files           map[string]string
	file, providers string
	unknown, err    string
}

func (row row) check(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	testenv.WriteFiles(t, dir, row.files)
	got, err := localstate.Read(t.Context(), localstate.Project{
		Dir: dir, DataDir: filepath.Join(dir, ".terraform"), Workspace: row.workspace,
		Inputs: config.Inputs{Environment: map[string]string{"v": "x"}},
	})
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
}

func check(t *testing.T, rows []row) {
	for _, row := range rows {
		t.Run(row.name, row.check)
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	check(t, []row{
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
	})
}

// The rows are the providers of a state, those that the configuration requires, and those that are
// needed in each dialect.
func TestNeedsIn(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, state, required, tofu string }{
		{name: "other hosts", state: "reg.example.com/acme/a registry.opentofu.org/acme/a", tofu: "reg.example.com/acme/a registry.opentofu.org/acme/a"},
		{name: "any namespace", state: "registry.terraform.io/hashicorp/a registry.terraform.io/acme/b", tofu: "registry.opentofu.org/hashicorp/a registry.opentofu.org/acme/b"},
		{name: "required in that form", state: "registry.terraform.io/acme/a", required: "registry.terraform.io/acme/a", tofu: "registry.terraform.io/acme/a"},
		{name: "required in the other form", state: "registry.terraform.io/acme/a", required: "registry.opentofu.org/acme/a", tofu: "registry.opentofu.org/acme/a"},
		{name: "in both forms", state: "registry.opentofu.org/acme/a registry.terraform.io/acme/a", tofu: "registry.opentofu.org/acme/a"},
		{name: "in both forms, one required", state: "registry.opentofu.org/acme/a registry.terraform.io/acme/a", required: "registry.terraform.io/acme/a", tofu: "registry.opentofu.org/acme/a registry.terraform.io/acme/a"},
	} {
		var addresses []string
		for address := range strings.FieldsSeq(row.state) {
			addresses = append(addresses, `provider["`+address+`"]`)
		}
		dir := t.TempDir()
		testenv.Must(t, os.WriteFile(filepath.Join(dir, "terraform.tfstate"), []byte(resources(addresses...)), 0o600))
		requires := func(p addrs.Provider) bool { return slices.Contains(strings.Fields(row.required), p.String()) }
		for _, p := range []localstate.Project{{}, {KeepAddresses: true}, {Terraform: true}} {
			want := row.state
			if !p.KeepAddresses && !p.Terraform {
				want = row.tofu
			}
			p.Dir, p.DataDir, p.Workspace = dir, filepath.Join(dir, ".terraform"), "default"
			needs, err := localstate.Read(t.Context(), p)
			testenv.Must(t, err)
			var got []string
			for _, address := range needs.In(requires) {
				got = append(got, address.String())
			}
			if diff := cmp.Diff(strings.Fields(want), got); diff != "" {
				t.Errorf("%s, terraform %v, kept %v (-want +got):\n%s", row.name, p.Terraform, p.KeepAddresses, diff)
			}
		}
	}
}

// A path may name any file of the machine. Only states are read, and messages show nothing of
// their content.
func TestReadOutside(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	outside := t.TempDir()
	name := func(file string) string { return filepath.Join(outside, file) }
	for file, text := range map[string]string{
		"state":   resources(a),
		"legacy":  resources("provider." + secret),
		"text":    secret,
		"address": resources(`provider["` + secret + ` x"]`),
		"version": `{"version": "` + secret + `"}`,
		"huge":    "",
	} {
		testenv.Must(t, os.WriteFile(name(file), []byte(text), 0o600))
	}
	if err := os.Truncate(name("huge"), 1<<30+1); err != nil { // the file has a hole and takes no space
		t.Fatal(err)
	}
	if err := os.Symlink(name("state"), name("link")); err != nil {
		t.Skip(err)
	}
	for _, row := range []struct{ name, path, providers, want string }{
		{"a state", name("state"), "reg.example.com/acme/a", ""},
		{"a link to a state", name("link"), "reg.example.com/acme/a", ""},
		{"nothing", name("none"), "", ""},
		{"a legacy address", name("legacy"), "", "legacy provider address in the state"},
		{"a text", name("text"), "", "is encrypted or of another version"},
		{"a malformed address", name("address"), "", "is encrypted or of another version"},
		{"a malformed version", name("version"), "", "is encrypted or of another version"},
		{"a huge file", name("huge"), "", "cannot be read: it is larger than 1024 MiB"},
		{"a directory", outside, "", "cannot be read: it is not a regular file"},
		{"the environment", "/proc/self/environ", "", "cannot be read: it is a file of the operating system"},
		{"messages of the kernel", "/proc/kmsg", "", "cannot be read: it is a file of the operating system"},
		{"a device", "/dev/zero", "", "cannot be read: it is not a regular file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if strings.HasPrefix(row.path, "/") {
				if _, err := os.Stat(filepath.Dir(row.path)); err != nil {
					t.Skip(err)
				}
			}
			dir := t.TempDir()
			testenv.Must(t, os.WriteFile(filepath.Join(dir, "main.tf"), []byte(local(fmt.Sprintf("path = %q", row.path))), 0o600))
			got, err := localstate.Read(t.Context(), localstate.Project{Dir: dir, DataDir: filepath.Join(dir, ".terraform"), Workspace: "default"})
			text := got.Unknown
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, row.want) || (text == "") != (row.want == "") || strings.Contains(text, secret) {
				t.Errorf("the message is %q, want %q", text, row.want)
			}
			if providers := strings.Trim(fmt.Sprint(got.Providers), "[]"); providers != row.providers {
				t.Errorf("the providers are %q, want %q", providers, row.providers)
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
