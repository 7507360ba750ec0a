package configread_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestReadSources(t *testing.T) {
	t.Parallel()
	none := map[string]string{}
	tests := []struct {
		name string
		file string
		src  string
		want configread.Settings
	}{
		{name: "nothing", file: "main.tf", want: configread.Settings{Sources: none}},
		{
			name: "sources", file: "main.tf", src: "module \"a\" {\n  source = \"./a\"\n}\nmodule \"b\" {\n  source = var.b\n}\nmodule \"c\" {}\n",
			want: configread.Settings{Sources: map[string]string{"a": "./a"}, Partial: true},
		},
		{
			name: "sources in other forms", file: "main.tf", src: "module a { source = \"./a\" }\nmodule \"b\" {\n  source = \"./\\u0062\" # /\n}\nmodule \"c\" {\n  x = { source = \"no\" }\n  source /* = */ = \"./c\"\n}\n" +
				"module \"d\" {\n  source = \"./d\" // \"\n}\nresource \"a\" \"b\" {\n  source = \"no\"\n}\n",
			want: configread.Settings{Sources: map[string]string{"a": "./a", "b": "./b", "c": "./c", "d": "./d"}},
		},
		{
			name: "JSON", file: "main.tf.json", src: `{"terraform":{"cloud":{"hostname":"tfe.example.com"},"required_version":"1.5.7"},"module":{"a":{"source":"./a"}}}`,
			want: configread.Settings{Sources: map[string]string{"a": "./a"}},
		},
		{name: "a file that is no configuration", file: "main.txt", src: "module \"a\" {\n  source = \"./a\"\n}\n", want: configread.Settings{Sources: none}},
		{name: "what can be read of a broken file", file: "main.tf", src: "module \"a\" {\n  source = \"./a\"\n}\nmodule \"b\" {\n", want: configread.Settings{Sources: map[string]string{"a": "./a"}, Partial: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			testenv.WriteFile(t, filepath.Join(dir, test.file), test.src)
			got := configread.Reader{}.ReadSources(t.Context(), configread.Dir{Path: dir})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("ReadSources (-want +got):\n%s", diff)
			}
		})
	}
	if got := (configread.Reader{}).ReadSources(t.Context(), configread.Dir{Path: filepath.Join(t.TempDir(), "gone")}); len(got.Sources) > 0 {
		t.Errorf("ReadSources of a directory that does not exist = %+v", got)
	}
}

func TestHasRootBlocks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, file, src string
		want            bool
	}{
		{name: "nothing", file: "main.tf"},
		{name: "an empty provider block", file: "main.tf", src: "provider \"x\" {}\n", want: true},
		{name: "a provider block with arguments", file: "main.tf", src: "provider \"x\" {\n  alias  = \"west\"\n  region = var.region\n}\n", want: true},
		{name: "a provider block with a block", file: "main.tf", src: "provider \"x\" {\n  features {}\n}\n", want: true},
		{name: "a provider that the caller passes", file: "main.tf", src: "provider \"x\" {\n  alias = \"west\"\n}\n"},
		{name: "a backend", file: "main.tf", src: "terraform {\n  backend \"s3\" {\n    bucket = \"x\"\n  }\n}\n", want: true},
		{name: "a cloud block", file: "main.tf.json", src: `{"terraform":{"cloud":{}}}`, want: true},
		{name: "requirements", file: "main.tf", src: "terraform {\n  required_providers {\n    x = { source = \"acme/x\" }\n  }\n}\n"},
		{name: "a provider argument", file: "main.tf", src: "resource \"x_a\" \"b\" {\n  provider = x.west\n}\n"},
		{name: "what can be read of a broken file", file: "main.tf", src: "provider \"x\" {}\nmodule \"a\" {\n", want: true},
		{name: "a file that is no configuration", file: "main.txt", src: "provider \"x\" {}\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			testenv.WriteFile(t, filepath.Join(dir, row.file), row.src)
			if got := (configread.Reader{}).HasRootBlocks(t.Context(), configread.Dir{Path: dir}); got != row.want {
				t.Errorf("HasRootBlocks = %v, want %v", got, row.want)
			}
		})
	}
}
