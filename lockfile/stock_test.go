package lockfile_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
)

var stockTools = []struct {
	name  string
	addrs addrs.Parser
}{
	{"tofu", addrs.Parser{}},
	{"terraform", addrs.Parser{DefaultRegistryHost: addrs.TerraformRegistryHost}},
}

const (
	stockHeaderText = "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n\n"
	stockVersion    = `version = "1.0.0"`
)

func stockProvider(label, body string) string {
	return fmt.Sprintf("provider %q {\n  %s\n}\n", label, body)
}

func withArgument(text string) string {
	return stockProvider("example.com/acme/a", stockVersion+"\n  "+text)
}

func withVersion(value string) string {
	return stockProvider("example.com/acme/a", "version = "+value)
}

func withLabel(label string) string { return stockProvider(label, stockVersion) }

// stockVerdicts are locks with provider blocks, and whether stock tools read them. The summaries
// are those of our first diagnostics; "" means that the lock is read. We refuse some locks that
// stock tools read, because we do not evaluate expressions.
var stockVerdicts = []struct {
	name, src, want string
	// accepted says that stock tools read the lock although we do not.
	accepted bool
	tool     string // the only tool of the case; "" for both
	// alone says that the lock is not joined with those of other cases, because it has no block, or
	// a syntax error.
	alone bool
}{
	{name: "empty", alone: true},
	{name: "good", src: stockHeaderText + withLabel("example.com/acme/a")},
	{name: "Latin-1 in a comment", alone: true, src: "# \xe9\n" + withLabel("example.com/acme/a")},

	{name: "version missing", src: stockProvider("example.com/acme/a", ""), want: "Invalid version"},
	{name: "version empty", src: withVersion(`""`), want: "Invalid version"},
	{name: "version a number", src: withVersion(`1.0`), want: "Not a literal string"},
	{name: "version null", src: withVersion(`null`), want: "Not a literal string"},
	{name: "version a list", src: withVersion(`["1.0.0"]`), want: "Not a literal string"},
	{name: "version a reference", src: withVersion(`foo`), want: "Not a literal string"},
	{name: "version a function", src: withVersion(`lower("1.0.0")`), want: "Not a literal string"},
	{name: "version a heredoc", src: withVersion("<<A\n1.0.0\nA"), want: "Not a literal string"},
	{name: "version an expression", src: withVersion(`"${"1.0.0"}"`), want: "Not a literal string", accepted: true},
	{name: "version in parentheses", src: withVersion(`("1.0.0")`), want: "Not a literal string", accepted: true},
	{name: "version with v", src: withVersion(`"v1.0.0"`), want: "Invalid version"},
	{name: "version with two numbers", src: withVersion(`"1.0"`), want: "Invalid version"},
	{name: "version with four numbers", src: withVersion(`"1.0.0.0"`), want: "Invalid version"},
	{name: "version with a space", src: withVersion(`" 1.0.0"`), want: "Invalid version"},
	{name: "version with leading zero", src: withVersion(`"01.0.0"`), want: "Invalid version"},
	{name: "version a constraint", src: withVersion(`"~> 1.0"`), want: "Invalid version"},
	{name: "version a word", src: withVersion(`"x"`), want: "Invalid version"},
	{name: "version a pre-release", src: withVersion(`"1.0.0-beta.1+m"`)},

	{name: "constraints", src: withArgument(`constraints = ">= 1.0.0, != 1.0.5, < 3.0.0"`)},
	{name: "constraints that exclude the version", src: withArgument(`constraints = "~> 2.0"`)},
	{name: "constraints empty", src: withArgument(`constraints = ""`)},
	{name: "constraints a space", src: withArgument(`constraints = " "`), want: "Invalid version constraints"},
	{name: "constraints a number", src: withArgument(`constraints = 1`), want: "Not a literal string"},
	{name: "constraints null", src: withArgument(`constraints = null`), want: "Not a literal string"},
	{name: "constraints a list", src: withArgument(`constraints = ["1.0.0"]`), want: "Not a literal string"},
	{name: "constraints a word", src: withArgument(`constraints = "huh"`), want: "Invalid version constraints"},
	{name: "constraints with two numbers", src: withArgument(`constraints = "1.0"`), want: "Invalid version constraints"},
	{name: "constraints with =", src: withArgument(`constraints = "= 1.0.0"`), want: "Invalid version constraints"},
	{name: "constraints with v", src: withArgument(`constraints = "v1.0.0"`), want: "Invalid version constraints"},
	{name: "constraints with a comma at the end", src: withArgument(`constraints = "1.0.0,"`), want: "Invalid version constraints"},
	{name: "constraints in another order", src: withArgument(`constraints = "< 3.0.0, >= 1.0.0"`), want: "Invalid version constraints"},
	{name: "constraints with metadata", src: withArgument(`constraints = "1.2.3, > 1.2.3+m1"`)},
	{name: "constraints with metadata in another order", src: withArgument(`constraints = "> 1.2.3+m1, 1.2.3"`), want: "Invalid version constraints"},
	{name: "constraints twice", src: withArgument(`constraints = "1.0.0, 1.0.0"`), want: "Invalid version constraints"},
	{name: "constraints without a space", src: withArgument(`constraints = ">=1.0.0"`), want: "Invalid version constraints"},
	{name: "constraints with two spaces", src: withArgument(`constraints = ">=  1.0.0"`), want: "Invalid version constraints"},
	{name: "constraints with one number", src: withArgument(`constraints = "~> 1"`), want: "Invalid version constraints"},
	{name: "constraints with a star", src: withArgument(`constraints = "1.*"`), want: "Invalid version constraints"},
	{name: "constraints of npm", src: withArgument(`constraints = "^1.0.0"`), want: "Invalid version constraints"},
	{name: "constraints with or", src: withArgument(`constraints = "1.0.0 || 2.0.0"`), want: "Invalid version constraints"},

	{name: "hashes", src: withArgument(`hashes = ["h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]`)},
	{name: "hashes unsorted and twice", src: withArgument(`hashes = ["zh:b", "zh:a", "zh:b"]`)},
	{name: "hashes of unknown schemes", src: withArgument(`hashes = ["zz:a", "ZH:a", "é:a", "z h:a", " zh:a", "zz:"]`)},
	{name: "hashes without a value", src: withArgument(`hashes = ["zh:", "h1:"]`)},
	{name: "hashes that are not well-formed", src: withArgument(`hashes = ["h1:x", "zh:\n", "zh:AB", "zh:é"]`)},
	{name: "hashes long", src: withArgument(`hashes = ["zh:` + strings.Repeat("a", 5000) + `"]`)},
	{name: "hashes none", src: withArgument(`hashes = []`), want: "Invalid hashes"},
	{name: "hashes a string", src: withArgument(`hashes = "h1:x"`), want: "Not a literal list"},
	{name: "hashes null", src: withArgument(`hashes = null`), want: "Not a literal list"},
	{name: "hashes a map", src: withArgument(`hashes = { a = "h1:x" }`), want: "Not a literal list"},
	{name: "hashes in parentheses", src: withArgument(`hashes = (["h1:x"])`), want: "Not a literal list"},
	{name: "hashes from for", src: withArgument(`hashes = [for x in ["h1:x"]: x]`), want: "Not a literal list"},
	{name: "hashes from a function", src: withArgument(`hashes = tolist(["h1:x"])`), want: "Not a literal list"},
	{name: "hash a number", src: withArgument(`hashes = [1]`), want: "Not a literal string"},
	{name: "hash null", src: withArgument(`hashes = [null]`), want: "Not a literal string"},
	{name: "hash a list", src: withArgument(`hashes = [["h1:x"]]`), want: "Not a literal string"},
	{name: "hash a reference", src: withArgument(`hashes = [foo]`), want: "Not a literal string"},
	{name: "hash in parentheses", src: withArgument(`hashes = [("h1:x")]`), want: "Not a literal string", accepted: true},
	{name: "hash empty", src: withArgument(`hashes = [""]`), want: "Invalid hash"},
	{name: "hash without a scheme", src: withArgument(`hashes = ["abc"]`), want: "Invalid hash"},
	{name: "hash with an empty scheme", src: withArgument(`hashes = [":abc"]`), want: "Invalid hash"},
	{name: "hash a colon", src: withArgument(`hashes = [":"]`), want: "Invalid hash"},

	{name: "unknown argument", src: withArgument(`foo = 1`), want: "Unsupported argument"},
	{name: "nested block", src: withArgument("foo {\n  }"), want: "Unsupported block"},
	{name: "dynamic block", src: withArgument("dynamic \"x\" {\n    for_each = []\n    content {}\n  }"), want: "Unsupported block"},
	{name: "argument twice", alone: true, src: withArgument(stockVersion), want: "Attribute redefined"},
	{name: "provider twice", src: withLabel("example.com/acme/a") + withLabel("example.com/acme/a"), want: "Duplicate provider block"},

	{name: "no label", src: "provider {\n  " + stockVersion + "\n}\n", want: "Invalid provider block"},
	{name: "two labels", src: "provider \"example.com/acme/a\" \"b\" {\n  " + stockVersion + "\n}\n", want: "Invalid provider block"},
	{name: "label a word", src: "provider foo {\n  " + stockVersion + "\n}\n", want: "Invalid provider address"},
	{name: "label empty", src: withLabel(""), want: "Invalid provider address"},
	{name: "label a slash", src: withLabel("/"), want: "Invalid provider address"},
	{name: "label with one part", src: withLabel("null"), want: "Invalid provider address"},
	{name: "label with two parts", src: withLabel("acme/x"), want: "Invalid provider address"},
	{name: "label with four parts", src: withLabel("example.com/a/b/c"), want: "Invalid provider address"},
	{name: "label in upper case", src: withLabel("example.com/ACME/x"), want: "Invalid provider address"},
	{name: "host in upper case", src: withLabel("EXAMPLE.com/acme/x"), want: "Invalid provider address"},
	{name: "default port", src: withLabel("example.com:443/acme/x"), want: "Invalid provider address"},
	{name: "other port", src: withLabel("example.com:8443/acme/x")},
	{name: "localhost", src: withLabel("localhost/acme/x")},
	{name: "label with a space", src: withLabel("example.com/acme/ x"), want: "Invalid provider address"},
	{name: "label with an underscore", src: withLabel("example.com/acme/x_y"), want: "Invalid provider address"},
	{name: "label in Unicode", src: withLabel("bücher.example/acme/bücher")},
	{name: "host in Punycode", src: withLabel("xn--bcher-kva.example/a/w"), want: "Invalid provider address"},
	{name: "label with an escape", src: "provider \"example.com/acme/\\u0078\" {\n  " + stockVersion + "\n}\n"},
	{name: "legacy of OpenTofu", src: withLabel("registry.opentofu.org/-/null"), want: "Invalid provider address"},
	{name: "legacy of Terraform", src: withLabel("registry.terraform.io/-/null"), want: "Invalid provider address"},
	{name: "legacy elsewhere", src: withLabel("example.com/-/null"), want: "Invalid provider address"},
	{name: "built in", src: withLabel("terraform.io/builtin/terraform"), want: "Invalid provider address"},
	{name: "built in, unknown", src: withLabel("terraform.io/builtin/x"), want: "Invalid provider address"},
	{name: "built in to OpenTofu", src: withLabel("opentofu.org/builtin/terraform"), want: "Invalid provider address", tool: "tofu"},
	{name: "built in to OpenTofu", src: withLabel("opentofu.org/builtin/terraform"), want: "Invalid provider address", tool: "terraform", accepted: true},
	{name: "namespace builtin", src: withLabel("registry.terraform.io/builtin/x")},
	{name: "name of a repository", src: withLabel("example.com/acme/terraform-provider-x"), want: "Invalid provider address"},
	{name: "prefix of Terraform", src: withLabel("registry.terraform.io/hashicorp/terraform-x"), want: "Invalid provider address"},
	{name: "prefix of OpenTofu", src: withLabel("example.com/acme/opentofu-x"), want: "Invalid provider address", tool: "tofu"},
	{name: "prefix of OpenTofu", src: withLabel("example.com/acme/opentofu-x"), tool: "terraform"},

	{name: "argument outside of blocks", src: "foo = 1\n", want: "Unsupported argument"},
	{name: "unknown block", src: "foo {\n}\n", want: "Unsupported block"},
	{name: "unknown block with labels", src: "resource \"a\" \"b\" {\n}\n", want: "Unsupported block"},
	{name: "Provider in upper case", src: "Provider \"example.com/acme/x\" {\n}\n", want: "Unsupported block"},
	{name: "not HCL", alone: true, src: "{\"provider\": {}}\n", want: "Argument or block definition required"},
	{name: "merge conflict", alone: true, src: withLabel("example.com/acme/a") + "<<<<<<< HEAD\n", want: "Merge conflict in lock file"},
	{name: "module", src: testBlock},
	{name: "module with unknown content", src: strings.Replace(testBlock, "\n}\n", "\n  future = upper(1)\n  nested {\n  }\n}\n", 1)},
	{name: "module of a later draft", src: "module \"example.com/a/b/c\" {\n}\n"},
	{name: "module with two labels", src: "module \"x\" \"y\" {\n}\n", want: "Invalid module block"},
	{name: "module without a label", src: "module {\n}\n", want: "Invalid module block"},
}

func firstFault(src string, dialect addrs.Parser) string {
	file, err := lockfile.Parse([]byte(src), "x")
	if invalid, ok := errors.AsType[*lockfile.SyntaxError](err); ok {
		return invalid.Diagnostics[0].Summary
	}
	if faults := file.StockFaults(dialect); len(faults) > 0 {
		return faults[0].Summary
	}
	return ""
}

// checkFaults checks that an invalid block is not included in the providers, and that the file can still be
// read and changed.
func checkFaults(t *testing.T, src string) {
	t.Helper()
	file, err := lockfile.Parse([]byte(src), "x")
	if err != nil {
		return
	}
	faults, blocks := file.ProviderFaults(), strings.Count(src, "provider ")
	if read := len(file.Providers()); (len(faults) > 0) != (read < blocks) || len(file.ProviderLabels()) != blocks {
		t.Errorf("%d of %d providers are read, with the faults %v and the labels %q", read, blocks, faults, file.ProviderLabels())
	}
	for _, fault := range faults {
		if fault.Subject.Filename != "x" {
			t.Errorf("a fault is in %s", fault.Subject)
		}
	}
	file.SetModule(testModule("a"))
	if diff := cmp.Diff(testBlock+"\n"+src, string(file.Bytes())); strings.HasPrefix(src, "provider ") && diff != "" {
		t.Errorf("with a module (-want +got):\n%s", diff)
	}
}

// A lock that a stock tool does not read is refused, with its position, and no other lock is.
func TestStockVerdicts(t *testing.T) {
	t.Parallel()
	for _, tool := range stockTools {
		binary, err := exec.LookPath(tool.name)
		refused := func(*testing.T, int) (bool, string) { return false, "" }
		if err == nil {
			refused = stockRefusals(t, tool.name, binary)
		}
		for i, test := range stockVerdicts {
			if test.tool != "" && test.tool != tool.name {
				continue
			}
			t.Run(tool.name+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				if got := firstFault(test.src, tool.addrs); got != test.want {
					t.Errorf("the first fault is %q, want %q", got, test.want)
				}
				checkFaults(t, test.src)
				if err != nil {
					t.Skipf("%s is not installed; the verdict was not compared", tool.name)
				}
				failed, out := refused(t, i)
				if refuses := test.want != "" && !test.accepted; failed != refuses {
					t.Errorf("%s refuses the lock: %v, want %v:\n%s", tool.name, failed, refuses, out)
				}
			})
		}
	}
}

// stockRefusals returns a function that reports whether a tool refuses the lock of a case, and its
// output. The tool reads most cases in a single lock, because a process for each of them takes long.
// It names the lines of all errors.
func stockRefusals(t *testing.T, name, binary string) func(t *testing.T, n int) (bool, string) {
	var joined strings.Builder
	caseOfLine := []int{-1} // by the number of the line, from 1
	for n, test := range stockVerdicts {
		if test.alone || test.tool != "" && test.tool != name {
			continue
		}
		src := strings.ReplaceAll(test.src, "example.com/acme/a\"", fmt.Sprintf("example.com/acme/a%d\"", n))
		joined.WriteString(src)
		for range strings.Count(src, "\n") {
			caseOfLine = append(caseOfLine, n)
		}
	}
	joinedOutput, failed := stockInit(t, binary, t.TempDir(), "", joined.String(), "-backend=false")
	if !failed {
		t.Fatalf("%s reads the lock:\n%s", name, joined.String())
	}
	refused := map[int]bool{}
	for _, found := range regexp.MustCompile(`Error: .*\n\n  on \.terraform\.lock\.hcl line (\d+)`).FindAllStringSubmatch(joinedOutput, -1) {
		line, err := strconv.Atoi(found[1])
		if err != nil || line >= len(caseOfLine) {
			t.Fatalf("%s names the line %s:\n%s", name, found[1], joinedOutput)
		}
		refused[caseOfLine[line]] = true
	}
	return func(t *testing.T, n int) (bool, string) {
		if test := stockVerdicts[n]; test.alone {
			out, failed := stockInit(t, binary, t.TempDir(), "", test.src)
			return failed, out
		}
		return refused[n], joinedOutput
	}
}

func stockInit(t *testing.T, binary, dir, config, lock string, args ...string) (out string, failed bool) {
	t.Helper()
	testenv.WriteFiles(t, dir, map[string]string{"main.tf": config, lockName: lock})
	cli := filepath.Join(t.TempDir(), "cli.tfrc")
	mirror := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", filepath.Join(filepath.Dir(dir), "mirror"))
	testenv.Must(t, os.WriteFile(cli, []byte(mirror), 0o600))
	cmd := exec.Command(binary, append([]string{"init", "-input=false", "-no-color"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+cli)
	text, err := cmd.CombinedOutput()
	return string(text), err != nil
}

// stockRewrite is a lock of a project that requires the providers a and b. HASH_A and HASH_B
// stand for the hashes of their packages. rewritten says whether a stock tool writes the file.
type stockRewrite struct {
	name, lock string // the name is "KIND: ...", as in [testenv.Kind]
	rewritten  bool
}

var stockRewrites = []stockRewrite{
	{"as stock tools write it", stockHeaderText + blockA + "\n" + blockB, false},
	{"hashes: sorted further ones", stockHeaderText + withHashes(blockA, `"HASH_A"`, `"zh:aa"`, `"zh:bb"`) + "\n" + blockB, false},
	{"unsorted hashes: alone", stockHeaderText + withHashes(blockA, `"zh:bb"`, `"zh:aa"`, `"HASH_A"`) + "\n" + blockB, true},
	{"hashes: one twice", stockHeaderText + withHashes(blockA, `"HASH_A"`, `"HASH_A"`) + "\n" + blockB, true},
	{"hashes: one twice, not in a row", stockHeaderText + blockA + "\n" + withHashes(blockB, `"HASH_B"`, `"zh:aa"`, `"HASH_B"`), true},
	{"hashes: an unknown scheme", stockHeaderText + withHashes(blockA, `"HASH_A"`, `"zz:aa"`) + "\n" + blockB, true},
	{"hashes: an empty zh", stockHeaderText + withHashes(blockA, `"HASH_A"`, `"zh:"`) + "\n" + blockB, false},
	{"empty h1: last", stockHeaderText + withHashes(blockA, `"HASH_A"`, `"h1:"`) + "\n" + blockB, true},
	{"empty h1: first", stockHeaderText + withHashes(blockA, `"h1:"`, `"HASH_A"`) + "\n" + blockB, false},
	{"hashes: none", stockHeaderText + withLabel("example.com/acme/a") + "\n" + blockB, true},
	{"unsorted blocks: alone", stockHeaderText + blockB + "\n" + blockA, false},
	{"unsorted blocks: and hashes", stockHeaderText + blockB + "\n" + withHashes(blockA, `"zh:aa"`, `"HASH_A"`), true},
	{"no header: alone", blockA + "\n" + blockB, false},
	{"no header: and unsorted hashes", withHashes(blockA, `"zh:aa"`, `"HASH_A"`) + "\n" + blockB, true},
	{"other constraints: alone", stockHeaderText + strings.Replace(blockA, `"1.0.0"`+"\n  hashes", `">= 0.5.0"`+"\n  hashes", 1) + "\n" + blockB, false},
	{"other constraints: and unsorted hashes", stockHeaderText + strings.Replace(blockA, `"1.0.0"`+"\n  hashes", `">= 0.5.0"`+"\n  hashes", 1) + "\n" + withHashes(blockB, `"zh:aa"`, `"HASH_B"`), true},
	{"layout: a comment", stockHeaderText + "# why\n" + blockA + "\n" + blockB, false},
	{"layout: another one", stockHeaderText + strings.NewReplacer("[\n    ", "[", ",\n  ]", "]").Replace(blockA) + "\n" + blockB, false},
	{"layout: another one, and unsorted hashes", stockHeaderText + strings.NewReplacer("[\n    ", "[", ",\n  ]", "]").Replace(blockA) + "\n" + withHashes(blockB, `"zh:aa"`, `"HASH_B"`), true},
	{"bytes: CRLF", strings.ReplaceAll(stockHeaderText+blockA+"\n"+blockB, "\n", "\r\n"), false},
	{"bytes: a byte order mark", "\ufeff" + stockHeaderText + blockA + "\n" + blockB, false},
	{"bytes: no final newline", strings.TrimSpace(stockHeaderText + blockA + "\n" + blockB), false},
	{"providers: one too many", stockHeaderText + blockA + "\n" + blockB + "\n" + withLabel("example.com/acme/c"), true},
	{"providers: one too few", stockHeaderText + blockB, true},
	{"providers: none", "", true},
	{"modules", oddModules() + "\n" + blockA + "\n" + blockB, false},
}

func oddModules() string {
	var file lockfile.File
	for _, key := range []string{"a", "a.b-c", "é"} {
		m := testModule(key)
		m.Package = testenv.Package(`https://example.com/${a}%{b}"\` + "\u00a0é")
		file.SetModule(m)
	}
	return string(file.Bytes())
}

var (
	blockA = stockProvider("example.com/acme/a", "version     = \"1.0.0\"\n  constraints = \"1.0.0\"\n  hashes = [\n    \"HASH_A\",\n  ]")
	blockB = stockProvider("example.com/acme/b", "version     = \"2.0.0\"\n  constraints = \"~> 2.0\"\n  hashes = [\n    \"HASH_B\",\n  ]")
)

func withHashes(block string, hashes ...string) string {
	start := strings.Index(block, "[")
	return block[:start] + "[\n    " + strings.Join(hashes, ",\n    ") + ",\n  ]\n}\n"
}

const stockRewriteConfig = `
terraform {
  required_providers {
    a = {
      source  = "example.com/acme/a"
      version = "1.0.0"
    }
    b = {
      source  = "example.com/acme/b"
      version = "~> 2.0"
    }
  }
}
`

// SetProviders changes a lock exactly if stock tools write it, and the provider blocks are then
// the same. The stock tools do not write the result again.
func TestSetProvidersAsStockTools(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	installed := make([]lockfile.Provider, 0, 2)
	replace := make([]string, 0, 4)
	for _, p := range []struct{ kind, version, constraints, mark string }{{kind: "a", version: "1.0.0", constraints: "1.0.0", mark: "HASH_A"}, {kind: "b", version: "2.0.0", constraints: "~> 2.0", mark: "HASH_B"}} {
		dir := filepath.Join(top, "mirror/example.com/acme", p.kind, p.version, addrs.CurrentPlatform().String())
		testenv.Must(t, os.MkdirAll(dir, 0o700))
		testenv.Must(t, os.WriteFile(filepath.Join(dir, "terraform-provider-"+p.kind), []byte(p.kind), 0o600))
		h1, err := hashing.Dir(t.Context(), dir)
		testenv.Must(t, err)
		installed = append(installed, lockedProvider(t, "example.com/acme/"+p.kind, p.version, p.constraints, h1))
		replace = append(replace, p.mark, string(h1))
	}
	byStock := testenv.Sample(stockRewrites, func(r stockRewrite) string { return testenv.Kind(r.name) })
	var results []string
	for _, test := range stockRewrites {
		lock := strings.NewReplacer(replace...).Replace(test.lock)
		file := parse(t, []byte(lock), lockName)
		file.NameTool("tofu")
		entries := make([]lockfile.Provider, len(installed))
		for i, p := range installed {
			old, _ := file.Provider(p.Address)
			entries[i] = old.Merge(p)
		}
		file.SetProviders(entries)
		ours := string(file.Bytes())
		if (ours != lock) != test.rewritten {
			t.Errorf("%s: rewritten %v, want %v:\n%s", test.name, ours != lock, test.rewritten, ours)
		}
		if !slices.Contains(byStock, test) {
			continue
		}
		locks := []string{lock}
		if ours != lock && !slices.Contains(results, ours) { // most cases have the same result
			results = append(results, ours)
			locks = append(locks, ours)
		}
		for i, tool := range stockTools {
			t.Run(tool.name+"/"+test.name, func(t *testing.T) {
				t.Parallel()
				binary := testenv.Program(t, tool.name)
				for _, before := range locks {
					dir, err := os.MkdirTemp(top, "project")
					testenv.Must(t, err)
					if out, failed := stockInit(t, binary, dir, stockRewriteConfig, before); failed {
						t.Fatalf("%s init: %s", tool.name, out)
					}
					after, err := os.ReadFile(filepath.Join(dir, lockName))
					testenv.Must(t, err)
					want := ours
					if i == 1 && before != ours {
						want = strings.Replace(ours, `"tofu init"`, `"terraform init"`, 1)
					}
					if before == lock && !test.rewritten {
						want = lock
					}
					if diff := cmp.Diff(want, string(after)); diff != "" {
						t.Errorf("%s init leaves another lock (-ours +theirs):\n%s", tool.name, diff)
					}
				}
			})
		}
	}
}
