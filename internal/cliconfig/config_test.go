package cliconfig_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/cliconfig"
)

// home writes files into a new home directory.
func home(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func credentials(token string) string {
	return fmt.Sprintf("credentials \"reg.example.com\" {\n  token = %q\n}\n", token)
}

const host = addrs.Hostname("reg.example.com")

func TestPrecedence(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		files     map[string]string
		environ   []string // HOME stands for the home directory
		terraform bool
		want      string
	}{
		{name: "nothing"},
		{name: "tofurc before terraformrc", files: map[string]string{".tofurc": credentials("tofu"), ".terraformrc": credentials("terraform")}, want: "tofu"},
		{name: "terraformrc for want of tofurc", files: map[string]string{".terraformrc": credentials("terraform")}, want: "terraform"},
		{name: "terraform does not read tofurc", files: map[string]string{".tofurc": credentials("tofu")}, terraform: true},
		{name: "XDG", files: map[string]string{"xdg/opentofu/tofurc": credentials("xdg")}, environ: []string{"XDG_CONFIG_HOME=HOME/xdg"}, want: "xdg"},
		{
			name:  "the directory wins over the main file",
			files: map[string]string{".tofurc": credentials("main"), ".terraform.d/a.tfrc": credentials("directory")},
			want:  "directory",
		},
		{
			name:  "later names win",
			files: map[string]string{".terraform.d/b.tfrc": credentials("b"), ".terraform.d/credentials.tfrc.json": `{"credentials": {"reg.example.com": {"token": "login"}}}`},
			want:  "login",
		},
		{
			name:    "a file that is named is the only one",
			files:   map[string]string{".tofurc": credentials("main"), ".terraform.d/a.tfrc": credentials("directory"), "own": credentials("own")},
			environ: []string{"TF_CLI_CONFIG_FILE=HOME/own"},
			want:    "own",
		},
		{
			name:    "the environment wins over all",
			files:   map[string]string{".tofurc": credentials("main")},
			environ: []string{"TF_TOKEN_reg_example_com=environment"},
			want:    "environment",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := home(t, test.files)
			source := cliconfig.Source{Home: dir, Terraform: test.terraform}
			for _, entry := range test.environ {
				source.Environ = append(source.Environ, strings.ReplaceAll(entry, "=HOME", "="+dir))
			}
			config, diags := source.Load()
			if len(diags) > 0 {
				t.Errorf("Load: %v", diags)
			}
			if got := config.Tokens[host].Secret(); got != test.want {
				t.Errorf("the token is %q, want %q", got, test.want)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]addrs.Hostname{
		"TF_TOKEN_reg_example_com":           "reg.example.com",
		"TF_TOKEN_REG_EXAMPLE_COM":           "reg.example.com",
		"TF_TOKEN_my__reg_example_com":       "my-reg.example.com",
		"TF_TOKEN_reg.example.com":           "reg.example.com",
		"TF_TOKEN_127.0.0.1:8443":            "127.0.0.1:8443",
		"TF_TOKEN_xn____bcher__kva_example":  "xn--bcher-kva.example",
		"TF_TOKEN_xn--bcher-kva.example":     "xn--bcher-kva.example",
		"TF_TOKEN_bücher.example":            "xn--bcher-kva.example",
		"TF_TOKEN_reg_example_com:notaport":  "",
		"TF_TOKEN_":                          "",
		"TF_TOKENS_reg_example_com":          "",
		"TF_TOKEN_reg_example_com_443_extra": "reg.example.com.443.extra",
	} {
		config, _ := cliconfig.Source{Environ: []string{variable + "=t=1"}}.Load()
		var got addrs.Hostname
		for h, token := range config.Tokens {
			if got = h; token.Secret() != "t=1" {
				t.Errorf("%s: the token is %q, want t=1", variable, token.Secret())
			}
		}
		if got != want {
			t.Errorf("%s is for %q, want %q", variable, got, want)
		}
	}
}

func TestServices(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		".tofurc":                  "host \"reg.example.com\" {\n  services = {\n    \"modules.v1\" = \"https://m.example.com/v1/\"\n  }\n}\n",
		".terraform.d/a.tfrc.json": `{"host": {"reg.example.com": {"services": {"modules.v1": "https://m.example.com/v1/"}}}}`,
	} {
		config, diags := cliconfig.Source{Home: home(t, map[string]string{name: text})}.Load()
		if len(diags) > 0 {
			t.Errorf("%s: %v", name, diags)
		}
		want := map[addrs.Hostname]map[string]any{host: {"modules.v1": "https://m.example.com/v1/"}}
		if diff := cmp.Diff(want, config.Services); diff != "" {
			t.Errorf("%s: services (-want +got):\n%s", name, diff)
		}
	}
}

// Files that are wrong are told by place, and never by what they hold.
func TestFaults(t *testing.T) {
	t.Parallel()
	const secret = "canary-4711"
	for name, text := range map[string]string{
		"syntax":       "credentials \"reg.example.com\" {\n  token = " + secret + " \"\n",
		"label":        "credentials {\n  token = \"" + secret + "\"\n}\n",
		"host":         "credentials \"no host\" {\n  token = \"" + secret + "\"\n}\n",
		"no services":  "host \"reg.example.com\" {\n}\n",
		"nesting":      "x = " + strings.Repeat("[", 10_000),
		"json":         `{"credentials": {"reg.example.com": {"token": ["` + secret + `"]}}}`,
		"json nesting": strings.Repeat(`{"a":`, 10_000),
	} {
		dir := home(t, map[string]string{".tofurc": text})
		_, diags := cliconfig.Source{Home: dir}.Load()
		if !diags.HasErrors() {
			t.Errorf("%s: no error", name)
		}
		if strings.Contains(diags.Error(), secret) {
			t.Errorf("%s: the error has the secret: %v", name, diags)
		}
	}
	_, diags := cliconfig.Source{Environ: []string{"TF_CLI_CONFIG_FILE=/nowhere/at/all"}}.Load()
	if diags.HasErrors() || len(diags) != 1 {
		t.Errorf("a named file that does not exist: %v, want one warning", diags)
	}
	_, diags = cliconfig.Source{Environ: []string{"TF_CLI_CONFIG_FILE=" + t.TempDir()}}.Load()
	if !diags.HasErrors() {
		t.Error("a directory as the file: no error")
	}
}

func TestTokensAreNotPrinted(t *testing.T) {
	t.Parallel()
	config, _ := cliconfig.Source{Environ: []string{"TF_TOKEN_reg_example_com=canary"}}.Load()
	text, err := json.Marshal(config.Tokens[host])
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{fmt.Sprint(config.Tokens[host]), fmt.Sprintf("%#v", config.Tokens[host]), fmt.Sprintf("%+v", config.Tokens), string(text)} {
		if strings.Contains(shown, "canary") {
			t.Errorf("a token is printed: %s", shown)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(credentials("x")))
	f.Add([]byte(`{"credentials": {"reg.example.com": {"token": "x"}}}`))
	f.Add([]byte("host \"a.b\" {\n services = { \"modules.v1\" = \"x\" }\n}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		config, diags := cliconfig.Source{Home: home(t, map[string]string{".tofurc": string(src)})}.Load()
		if config == nil {
			t.Errorf("Load returned no configuration and %v", diags)
		}
	})
}
