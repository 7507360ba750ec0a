package addrs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

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
			binary, err := exec.LookPath(tool)
			if err != nil {
				t.Skipf("%s is not installed", tool)
			}
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
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, fmt.Sprintf(`"p%d": {"source": %s},`, i, text))
		}
		lines[len(lines)-1] = strings.TrimSuffix(lines[len(lines)-1], ",")
		lines = append(lines, "}}}")
		if err := os.WriteFile(filepath.Join(dir, "main.tf.json"), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
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
			if err != nil {
				t.Fatal(err)
			}
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
