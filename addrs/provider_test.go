package addrs_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	regaddr "github.com/opentofu/registry-address/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
)

const tofuOnly, terraformOnly = "tofu only", "terraform only"

var (
	longName  = strings.Repeat("a", 300)
	longLabel = strings.Repeat("b", 64)
	longHost  = strings.Repeat("c.", 130) + "example"
)

// The verdicts are those of the parsers of tofu and terraform, which differ only in rows that
// name a tool. "~" stands for the tool's default host, and "" for an error.
var providerSources = []struct {
	sources []string
	want    string
	only    string // the only tool that accepts them; "" means both
}{
	{[]string{"null", "NULL", "hashicorp/null", "HashiCorp/NULL", "\ufeffhashicorp/null"}, "~/hashicorp/null", ""},
	{[]string{"terraform"}, "~/hashicorp/terraform", ""},
	{[]string{"0"}, "~/hashicorp/0", ""},
	{[]string{"acme/widget", "Acme/Widget", "acme/ｗｉｄｇｅｔ", "acme/wid\u00adget"}, "~/acme/widget", ""},
	{[]string{"acme/wid-get"}, "~/acme/wid-get", ""},
	{[]string{"9lives/9cat"}, "~/9lives/9cat", ""},
	{[]string{"1/1"}, "~/1/1", ""},
	{[]string{"a/b"}, "~/a/b", ""},
	{[]string{"builtin/terraform"}, "~/builtin/terraform", ""},
	{[]string{"acme/terraform"}, "~/acme/terraform", ""},
	{[]string{"acme/opentofu"}, "~/acme/opentofu", ""},
	{[]string{"acme/tofu-provider-null"}, "~/acme/tofu-provider-null", ""},
	{[]string{"terraform.io/builtin/terraform"}, "terraform.io/builtin/terraform", ""},
	{[]string{"opentofu.org/builtin/terraform"}, "opentofu.org/builtin/terraform", ""},
	{[]string{"a/b/c"}, "a/b/c", ""},
	{[]string{"localhost/acme/w"}, "localhost/acme/w", ""},
	{[]string{"localhost:8443/acme/w"}, "localhost:8443/acme/w", ""},
	{[]string{"127.0.0.1:8080/acme/w"}, "127.0.0.1:8080/acme/w", ""},
	{[]string{"github.com/acme/w"}, "github.com/acme/w", ""},
	{[]string{"EXAMPLE.com:443/Acme/W", "ｅｘａｍｐｌｅ.com/acme/w"}, "example.com/acme/w", ""},
	{[]string{"example.com:08443/a/w"}, "example.com:8443/a/w", ""},
	{[]string{"example.com:+443/a/w"}, "example.com/a/w", ""},
	{[]string{"example.com:0/a/w"}, "example.com:0/a/w", ""},
	{[]string{"example.com:-1/a/w"}, "example.com:-1/a/w", ""},
	{[]string{"example.com./a/w"}, "example.com./a/w", ""},
	{[]string{"bücher.example/a/w", "BÜCHER.example/a/w"}, "bücher.example/a/w", ""},
	{[]string{"bücher/w"}, "~/bücher/w", ""},
	{[]string{"acme/Straße"}, "~/acme/straße", ""},
	{[]string{"acme/ﬁle"}, "~/acme/file", ""},
	{[]string{"acme/ⅷ"}, "~/acme/viii", ""},
	{[]string{"acme/☃"}, "~/acme/☃", ""},
	{[]string{"acme/😀"}, "~/acme/😀", ""},
	{[]string{"acme/" + longName}, "~/acme/" + longName, ""},
	{[]string{longLabel + ".example/acme/w"}, longLabel + ".example/acme/w", ""},
	{[]string{longHost + "/acme/w"}, longHost + "/acme/w", ""},
	{[]string{"acme/terraform-provider-null", "acme/Terraform-Provider-Null", "github.com/hashicorp/terraform-provider-aws", "acme/terraform-null"}, "", ""},
	{[]string{"acme/opentofu-null"}, "~/acme/opentofu-null", terraformOnly},
	{[]string{"acme/opentofu-provider-null"}, "~/acme/opentofu-provider-null", terraformOnly},
	{[]string{"-/null"}, "~/-/null", ""},
	{[]string{"registry.opentofu.org/-/null"}, "registry.opentofu.org/-/null", tofuOnly},
	{[]string{"registry.terraform.io/-/null"}, "registry.terraform.io/-/null", terraformOnly},
	{[]string{"example.com/-/null"}, "", ""},
	{[]string{"-", "--", "hashicorp/-", "-/-", "-/hashicorp/null"}, "", ""},
	{[]string{"", "/", "a//b", "/a/b", "a/b/", "a/b/c/d", "https://h/a/b", "acme/x\n", "a..b/acme/x", "\u034f", "\u034f/x"}, "", ""},
	{[]string{" hashicorp/null", "hashicorp/null ", "hashicorp/nu ll", "a\t/b", "a/b\x00", "a/b\u00a0", "a/b\u200d"}, "", ""},
	{[]string{"acme/-w", "acme/w-", "-acme/w", "acme-/w", "acme/a--b", "a--b/w", "acme/xn--bcher-kva"}, "", ""},
	{[]string{"acme/wid_get", "acme_corp/w", "acme/_w"}, "", ""},
	{[]string{"hash.corp/null", "hashicorp/nu.ll", "./null", "../null", "hashicorp/null@1.0.0", "hashicorp/null:1.0.0"}, "", ""},
	{[]string{"hashicorp/null?x=1", "#x", "acme/a+b", "a~b", "a,b", "%68a/b", "acme/${b}", "*/*", "acme/*", "?/null", "acme/٣"}, "", ""},
	{[]string{"xn--bcher-kva.example/a/w", "exa_mple.com/a/w", "-example.com/a/w", "example..com/a/w", ".example.com/a/w"}, "", ""},
	{[]string{"example.com:/a/w", "example.com:abc/a/w", "example.com:99999/a/w", "example.com:8443:1/a/w", "[::1]/a/w", "::1/a/w", "user@example.com/a/w"}, "", ""},

	// The tools do not accept the full addresses of these providers.
	{[]string{"terraform-null", "TERRAFORM-null"}, "~/hashicorp/terraform-null", ""},
	{[]string{"terraform-provider-null"}, "~/hashicorp/terraform-provider-null", ""},
	{[]string{"opentofu-null"}, "~/hashicorp/opentofu-null", ""}, // terraform accepts them
	{[]string{"opentofu-provider-null"}, "~/hashicorp/opentofu-provider-null", ""},

	// In this row, Cotter differs: stock tools accept the addresses.
	{[]string{"acme/wid。get", "．．", "acme/a-\u00ad-b", "acme/\u034f", "acme/\xff"}, "", ""},
}

func TestProviderSourceTable(t *testing.T) {
	t.Parallel()
	for _, tool := range []struct {
		name string
		host addrs.Hostname
	}{{tofuOnly, addrs.DefaultRegistryHost}, {terraformOnly, addrs.TerraformRegistryHost}} {
		parser := addrs.Parser{DefaultRegistryHost: tool.host}
		for _, row := range providerSources {
			want := strings.Replace(row.want, "~/", string(tool.host)+"/", 1)
			if row.only != "" && row.only != tool.name {
				want = ""
			}
			for _, source := range row.sources {
				p, err := parser.ParseProviderSource(source)
				got := ""
				if err == nil {
					got = p.String()
				}
				if got != want {
					t.Errorf("%s: ParseProviderSource(%q) = %q, %v, want %q", tool.name, source, got, err, want)
				}
				if _, isParseError := errors.AsType[*addrs.ParseError](err); err != nil && !isParseError {
					t.Errorf("%s: ParseProviderSource(%q): %v is no *ParseError", tool.name, source, err)
				}
				hasPrefix := strings.HasPrefix(p.Type, "terraform-") || strings.HasPrefix(p.Type, "opentofu-") && tool.name == tofuOnly
				if accepts := parser.AcceptsFullAddress(p); want != "" && accepts == hasPrefix {
					t.Errorf("%s: AcceptsFullAddress(%q) = %v", tool.name, got, accepts)
				}
			}
		}
	}
}

func TestProviderSourceSuggestions(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"acme/terraform-provider-null":                `did you mean "acme/null"`,
		"github.com/hashicorp/terraform-provider-aws": `did you mean "github.com/hashicorp/aws"`,
		"hashicorp/terraform-provider-null":           `did you mean "hashicorp/null"`,
		"acme/opentofu-provider-null":                 `did you mean "acme/null"`,
		"acme/terraform-null":                         `a type has no prefix "terraform-"`,
		"https://h/a/b":                               "[HOST/][NAMESPACE/]TYPE",
		"example.com/-/null":                          `only registry.opentofu.org has the namespace "-"`,
	} {
		if _, err := addrs.ParseProviderSource(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseProviderSource(%q): error %v, want %q", source, err, want)
		}
	}
}

func TestProviderKinds(t *testing.T) {
	t.Parallel()
	terraform := addrs.Parser{DefaultRegistryHost: addrs.TerraformRegistryHost}
	for _, test := range []struct {
		source, display                       string
		builtIn, builtInTerraform, legacyName bool
	}{
		{"terraform.io/builtin/terraform", "terraform.io/builtin/terraform", true, true, false},
		{"terraform.io/builtin/foo", "terraform.io/builtin/foo", true, true, false},
		{"opentofu.org/builtin/terraform", "opentofu.org/builtin/terraform", true, false, false},
		{"builtin/terraform", "builtin/terraform", false, false, false},
		{"terraform.io/hashicorp/terraform", "terraform.io/hashicorp/terraform", false, false, false},
		{"terraform", "hashicorp/terraform", false, false, false},
		{"registry.opentofu.org/hashicorp/null", "hashicorp/null", false, false, false},
		{"registry.terraform.io/hashicorp/null", "registry.terraform.io/hashicorp/null", false, false, false},
		{"-/null", "-/null", false, false, true},
	} {
		p, err := addrs.ParseProviderSource(test.source)
		testenv.Must(t, err)
		if p.ForDisplay() != test.display || p.IsBuiltIn() != test.builtIn || terraform.IsBuiltIn(p) != test.builtInTerraform || p.IsLegacy() != test.legacyName {
			t.Errorf("%s: ForDisplay = %s, IsBuiltIn = %v, in terraform %v, IsLegacy = %v", p, p.ForDisplay(), p.IsBuiltIn(), terraform.IsBuiltIn(p), p.IsLegacy())
		}
	}
}

// Providers are ordered as in a lock: by the comparable form of the host, then by namespace and
// type.
func TestProviderCompare(t *testing.T) {
	t.Parallel()
	sorted := []string{
		"b-2.example/a/b", "b.example/a/b", "example.com/a/b", "example.com/a/b-2", "example.com/a-b/a", "example.com:8443/a/b",
		"registry.opentofu.org/a/b", "bücher.example/a/b", "xo.example/a/b",
	}
	var providers []addrs.Provider
	for _, source := range sorted {
		p, err := addrs.ParseProviderSource(source)
		testenv.Must(t, err)
		providers = append(providers, p)
	}
	for i, a := range providers {
		for j, b := range providers {
			if got := a.Compare(b); got != cmp.Compare(i, j) {
				t.Errorf("%s.Compare(%s) = %d", a, b, got)
			}
		}
	}
	if !slices.IsSortedFunc(providers, addrs.Provider.Compare) {
		t.Errorf("%v is not sorted", providers)
	}
}

func TestParsePlatform(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]addrs.Platform{
		"linux_amd64":    {OS: "linux", Arch: "amd64"},
		"windows_386":    {OS: "windows", Arch: "386"},
		"darwin_arm64":   {OS: "darwin", Arch: "arm64"},
		"plan9_mips64le": {OS: "plan9", Arch: "mips64le"},
	} {
		if p, err := addrs.ParsePlatform(input); err != nil || p != want || p.String() != input {
			t.Errorf("ParsePlatform(%q) = %v, %v, want %v", input, p, err, want)
		}
	}
	for _, input := range []string{"", "linux", "_", "linux_", "_amd64", "linux_amd64_v2", "linux-amd64", "Linux_amd64", "linux_amd64 ", "../_x", "a_" + strings.Repeat("b", 33), "línux_amd64"} {
		if p, err := addrs.ParsePlatform(input); err == nil {
			t.Errorf("ParsePlatform(%q) = %v, want an error", input, p)
		} else if !strings.Contains(err.Error(), "OS_ARCH") {
			t.Errorf("ParsePlatform(%q): error %v", input, err)
		}
	}
	if p := addrs.CurrentPlatform(); p.OS != runtime.GOOS || p.Arch != runtime.GOARCH {
		t.Errorf("CurrentPlatform = %v", p)
	}
}

func FuzzParseProviderSource(f *testing.F) {
	for _, seed := range []string{"null", "acme/x", "reg.example.com/acme/x", "Bücher.example/a/b", "a..b/c/d", "h:-1/a/b", "-/x", "terraform-x", "acme/opentofu-x", "terraform.io/builtin/terraform"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, parser := range []addrs.Parser{{}, {DefaultRegistryHost: addrs.TerraformRegistryHost}} {
			p, err := parser.ParseProviderSource(source)
			if err != nil {
				continue
			}
			if !parser.AcceptsFullAddress(p) && (strings.Contains(source, "/") || p.Namespace != "hashicorp") {
				t.Errorf("ParseProviderSource(%q) = %s, which is not accepted", source, p)
			}
			if stock, err := regaddr.ParseProviderSource(source); parser == (addrs.Parser{}) && (err != nil || stock.Type != p.Type || addrs.Hostname(stock.Hostname) != p.Hostname) {
				t.Errorf("ParseProviderSource(%q) = %s, the library has %s, %v", source, p, stock, err)
			}
		}
	})
}

// oneParts returns provider addresses of one part, in which every way to write a prefix is
// combined with every kind of name.
func oneParts() []string {
	prefixes := []string{
		"", "terraform-", "opentofu-", "terraform-provider-", "opentofu-provider-", "terraform-opentofu-", "opentofu-terraform-",
		"tofu-", "provider-", "Terraform-", "OPENTOFU-", "ｔerraform-", "terra\u00adform-", "terraform\u00ad-",
	}
	names := []string{
		"null", "NULL", "0", "n", "n-u", "terraform", "opentofu", "provider", "builtin", "nüll", "straße", "ﬁle", "ⅷ", "☃", "n\u00adu", "\ufeffnull",
		strings.Repeat("a", 70), "-null", "null-", "n--u", "xn--bcher-kva", "n_u", "n.u", "-", "--", "", "null ", " null", "n u", "\u200dnull", "٣",
		"n\u0301", "ab\u0327", "İ", "ſ", "ß", "ς", "﷼", "㎏", "½", "℀", "№", "ﬀ", "n\\u", "n:u", "n@1", "n?x", "n#x", "n+u", "n~u", "*", "n%20u", "${x}",
		"ⓝull", "𝐧ull", "ｎｕｌｌ", "n\u200bu", "n\ufe0fu", "ª", "3--a", "ab--c", "A.B",
	}
	var all []string
	for _, prefix := range prefixes {
		for _, name := range names {
			if prefix+name != "" {
				all = append(all, prefix+name)
			}
		}
	}
	return all
}

var (
	errorLine    = regexp.MustCompile(`(?m)^Error: [^\n]*\n\n  on main\.tf\.json line (\d+)`)
	providerLine = regexp.MustCompile(`provider\[([^\]]*)\]`)
)

// The real tools decide which addresses of one part are valid, and which providers these are.
func TestProviderSourcesLikeStock(t *testing.T) {
	t.Parallel()
	for tool, host := range map[string]addrs.Hostname{"tofu": addrs.DefaultRegistryHost, "terraform": addrs.TerraformRegistryHost} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			binary := testenv.Program(t, tool)
			parser := addrs.Parser{DefaultRegistryHost: host}
			accepted, providers := askForProviders(t, binary, oneParts())
			found := map[string]bool{}
			for _, source := range oneParts() {
				p, err := parser.ParseProviderSource(source)
				if (err == nil) != slices.Contains(accepted, source) {
					t.Errorf("ParseProviderSource(%q) = %s, %v; %s accepts it: %v", source, p, err, tool, err != nil)
				}
				if err == nil {
					found[p.String()] = true
				}
			}
			for _, provider := range providers {
				if !found[provider] {
					t.Errorf("no address is that of %s, which %s has", provider, tool)
				}
				delete(found, provider)
			}
			for provider := range found {
				t.Errorf("%s does not know the address %s", tool, provider)
			}
		})
	}
}

// askForProviders returns the addresses that a stock tool accepts in required_providers, and
// their full addresses.
func askForProviders(t *testing.T, binary string, sources []string) (accepted, full []string) {
	t.Helper()
	dir := t.TempDir()
	for accepted = sources; ; {
		lines := []string{`{"terraform": {"required_providers": {`}
		for i, source := range accepted {
			text, err := json.Marshal(strings.ReplaceAll(source, "${", "$${"))
			testenv.Must(t, err)
			lines = append(lines, fmt.Sprintf(`"p%d": {"source": %s},`, i, text))
		}
		lines[len(lines)-1] = strings.TrimSuffix(lines[len(lines)-1], ",")
		lines = append(lines, "}}}")
		testenv.Must(t, os.WriteFile(filepath.Join(dir, "main.tf.json"), []byte(strings.Join(lines, "\n")), 0o600))
		cmd := exec.Command(binary, "providers", "-no-color")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+os.DevNull)
		out, err := cmd.CombinedOutput()
		if err == nil {
			for _, match := range providerLine.FindAllSubmatch(out, -1) {
				full = append(full, string(match[1]))
			}
			return accepted, full
		}
		refused := map[int]bool{}
		for _, match := range errorLine.FindAllSubmatch(out, -1) {
			line, err := strconv.Atoi(string(match[1]))
			testenv.Must(t, err)
			refused[line-2] = true
		}
		if len(refused) == 0 {
			t.Fatalf("%v\n%s", err, out)
		}
		var rest []string
		for i, source := range accepted {
			if !refused[i] {
				rest = append(rest, source)
			}
		}
		accepted = rest
	}
}
