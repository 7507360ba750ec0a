package configs_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/configs"
)

func TestReadSettings(t *testing.T) {
	t.Parallel()
	none := map[string]string{}
	tests := []struct {
		name string
		file string
		src  string
		want configs.Settings
	}{
		{"nothing", "main.tf", "", configs.Settings{Sources: none}},
		{"cloud", "main.tf", "terraform {\n  cloud {}\n}\n", configs.Settings{CloudHosts: []string{""}, Sources: none}},
		{"a host", "main.tf", "terraform {\n  cloud {\n    hostname = \"tfe.example.com\"\n  }\n}\n", configs.Settings{CloudHosts: []string{"tfe.example.com"}, Sources: none}},
		{"a computed host", "main.tf", "terraform {\n  cloud {\n    hostname = var.host\n  }\n}\n", configs.Settings{Sources: none}},
		{"backends", "main.tf", "terraform {\n  backend \"remote\" {}\n}\nterraform {\n  backend \"s3\" {}\n}\n", configs.Settings{CloudHosts: []string{""}, Sources: none}},
		{"a version", "main.tf", "terraform {\n  required_version = \"~> 1.5.0\"\n}\n", configs.Settings{RequiredVersions: []string{"~> 1.5.0"}, Sources: none}},
		{
			"sources", "main.tf", "module \"a\" {\n  source = \"./a\"\n}\nmodule \"b\" {\n  source = var.b\n}\nmodule \"c\" {}\n",
			configs.Settings{Sources: map[string]string{"a": "./a"}, Partial: true},
		},
		{
			"sources in other forms", "main.tf", "module a { source = \"./a\" }\nmodule \"b\" {\n  source = \"./\\u0062\" # /\n}\nmodule \"c\" {\n  x = { source = \"no\" }\n  source /* = */ = \"./c\"\n}\n" +
				"module \"d\" {\n  source = \"./d\" // \"\n}\nresource \"a\" \"b\" {\n  source = \"no\"\n}\n",
			configs.Settings{Sources: map[string]string{"a": "./a", "b": "./b", "c": "./c", "d": "./d"}},
		},
		{
			"JSON", "main.tf.json", `{"terraform":{"cloud":{"hostname":"tfe.example.com"},"required_version":"1.5.7"},"module":{"a":{"source":"./a"}}}`,
			configs.Settings{CloudHosts: []string{"tfe.example.com"}, RequiredVersions: []string{"1.5.7"}, Sources: map[string]string{"a": "./a"}},
		},
		{"a file that is no configuration", "main.txt", "terraform {\n  cloud {}\n}\n", configs.Settings{Sources: none}},
		{"what can be read of a broken file", "main.tf", "terraform {\n  cloud {}\n}\nmodule \"a\" {\n", configs.Settings{CloudHosts: []string{""}, Sources: none, Partial: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, test.file), test.src)
			got := configs.Reader{}.ReadSettings(t.Context(), configs.Dir{Path: dir})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("ReadSettings (-want +got):\n%s", diff)
			}
			sources := configs.Reader{}.ReadSources(t.Context(), configs.Dir{Path: dir})
			if diff := cmp.Diff(test.want.Sources, sources.Sources); diff != "" || sources.Partial != test.want.Partial {
				t.Errorf("ReadSources: Partial is %v; its sources (-want +got):\n%s", sources.Partial, diff)
			}
		})
	}
	if got := (configs.Reader{}).ReadSettings(t.Context(), configs.Dir{Path: filepath.Join(t.TempDir(), "gone")}); len(got.Sources) > 0 {
		t.Errorf("ReadSettings of a directory that does not exist = %+v", got)
	}
}

func TestHasRootBlocks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, file, src string
		want            bool
	}{
		{"nothing", "main.tf", "", false},
		{"an empty provider block", "main.tf", "provider \"x\" {}\n", true},
		{"a provider block with arguments", "main.tf", "provider \"x\" {\n  alias  = \"west\"\n  region = var.region\n}\n", true},
		{"a provider block with a block", "main.tf", "provider \"x\" {\n  features {}\n}\n", true},
		{"a provider that the caller passes", "main.tf", "provider \"x\" {\n  alias = \"west\"\n}\n", false},
		{"a backend", "main.tf", "terraform {\n  backend \"s3\" {\n    bucket = \"x\"\n  }\n}\n", true},
		{"a cloud block", "main.tf.json", `{"terraform":{"cloud":{}}}`, true},
		{"requirements", "main.tf", "terraform {\n  required_providers {\n    x = { source = \"acme/x\" }\n  }\n}\n", false},
		{"a provider argument", "main.tf", "resource \"x_a\" \"b\" {\n  provider = x.west\n}\n", false},
		{"what can be read of a broken file", "main.tf", "provider \"x\" {}\nmodule \"a\" {\n", true},
		{"a file that is no configuration", "main.txt", "provider \"x\" {}\n", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, row.file), row.src)
			if got := (configs.Reader{}).HasRootBlocks(t.Context(), configs.Dir{Path: dir}); got != row.want {
				t.Errorf("HasRootBlocks = %v, want %v", got, row.want)
			}
		})
	}
}
