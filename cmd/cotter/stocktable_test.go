package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// initTable has a value for each variable and flag in the table of docs/stock-tools.md, with which the tool finds what
// Cotter has installed. warns says that Cotter does not follow it.
var initTable = map[string]struct {
	value string
	warns bool
}{
	"TF_CLI_CONFIG_FILE": {value: "cli.tfrc"}, "TERRAFORM_CONFIG": {value: "cli.tfrc"}, "TF_TOKEN_": {value: "x"},
	"TF_DATA_DIR": {value: ".terraform"}, "TF_PLUGIN_CACHE_DIR": {value: "."}, "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE": {value: "true"},
	"TF_REGISTRY_CLIENT_TIMEOUT": {value: "15"}, "TF_REGISTRY_DISCOVERY_RETRY": {value: "2"}, "TF_PROVIDER_DOWNLOAD_RETRY": {value: "2"},
	"TF_WORKSPACE": {value: "default"}, "TF_VAR_": {value: "x"}, "-var": {value: "name=x"}, "-var-file": {value: "more.tfvars"},
	"TF_REATTACH_PROVIDERS": {value: `{}`}, "OPENTOFU_ENFORCE_GPG_EXPIRATION": {value: "true"}, "OPENTOFU_ENFORCE_GPG_VALIDATION": {value: "true", warns: true},
	"-plugin-dir": {value: "."}, "-test-directory": {value: "tests"}, "-lockfile": {value: "readonly"},
	"-upgrade": {warns: true}, "-update": {warns: true}, "-from-module": {warns: true},
	"-get": {value: "false", warns: true}, "-backend": {value: "false"}, "-backend-config": {value: "path=x"}, "-reconfigure": {}, "-migrate-state": {}, "-force-copy": {},
	"-lock": {value: "false"}, "-lock-timeout": {value: "1s"}, "-ignore-remote-version": {}, "-input": {value: "false"}, "-json": {}, "-json-into": {value: "out.json"}, "-no-color": {},
	"-compact-warnings": {}, "-consolidate-warnings": {value: "false"}, "-consolidate-errors": {value: "false"},
	"TF_IN_AUTOMATION": {value: "1"}, "TF_INPUT": {value: "0"}, "TF_LOG": {value: "error"}, "TF_ENCRYPTION": {value: "{}"}, "TF_CLOUD_": {value: "x"},
	"TF_APPEND_USER_AGENT": {value: "x"}, "TF_HTTP_": {value: "x"}, "TF_WARN_OUTPUT_ERRORS": {value: "1"}, "TF_STATE_PERSIST_INTERVAL": {value: "20"},
	"OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION": {value: "0"},
}

// prefixes are in the names of several variables; the value is for one of them.
var prefixes = map[string]string{"TF_TOKEN_": "TF_TOKEN_example_com", "TF_VAR_": "TF_VAR_name", "TF_CLOUD_": "TF_CLOUD_ORGANIZATION", "TF_HTTP_": "TF_HTTP_USERNAME", "TF_LOG": "TF_LOG"}

// notForInit are the names in the tools' programs that are not in the table: those from which the table's flags are
// read, those for tests and developers of the tools, and those of the protocol of plugins.
var notForInit = []string{
	"TF_CLI_ARGS", "TF_ACC", "TF_AWS_", "TF_TEMP_LOG_PATH", "TF_SCHEMA_PANIC_ON_ERROR", "TF_FORCE_LOCAL_BACKEND", "TF_DISABLE_PLUGIN_TLS",
	"TF_PLUGIN_MAGIC_COOKIE", "TF_CLOUDPLUGIN_MAGIC_COOKIE", "TERRAFORM_RPCAPI_COOKIE", "TF_TEMPLATE_RECURSION_DEPTH",
	"TF_VVAR_", // random bytes
}

// variableNames returns what begins like the name of a variable in a program, where texts follow one another without
// a separator. It reads the program in parts, because memory for all of it would take longer than the rest.
func variableNames(t *testing.T, program string) []string {
	t.Helper()
	file, err := os.Open(program)
	testenv.Must(t, err)
	defer func() { _ = file.Close() }()
	found := make(map[string]bool)
	const longest = 1 << 10
	part, kept := make([]byte, 1<<20), 0
	for last := false; !last; {
		n, err := io.ReadFull(file, part[kept:])
		if last = errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); !last {
			testenv.Must(t, err)
		}
		read := part[:kept+n]
		until := len(read)
		if !last {
			until -= longest // what begins later may not be whole
		}
		addNames(found, read, until)
		kept = copy(part, read[until:])
	}
	return slices.Sorted(maps.Keys(found))
}

// addNames adds the names that begin before an index of a text.
func addNames(found map[string]bool, text []byte, until int) {
	for _, prefix := range []string{"TF_", "OPENTOFU_", "TERRAFORM_"} {
		for at := 0; ; {
			next := bytes.Index(text[at:], []byte(prefix))
			if at += next; next < 0 || at >= until {
				break
			}
			end := at + len(prefix)
			for end < len(text) && (text[end] == '_' || 'A' <= text[end] && text[end] <= 'Z') {
				end++
			}
			if end >= at+len(prefix)+3 && text[at+len(prefix)] != '_' {
				found[string(text[at:end])] = true
			}
			at = end
		}
	}
}

// initNames returns the names in the first column of the page's table, without values and dots.
func initNames(t *testing.T) []string {
	t.Helper()
	_, section, _ := strings.Cut(string(readFile(t, "../../docs/stock-tools.md")), "## Variables and flags of `init`\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var names []string
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, code := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			name, _, _ := strings.Cut(code[1], "=")
			names = append(names, strings.TrimSuffix(name, "..."))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestInitTable(t *testing.T) {
	t.Parallel()
	names := initNames(t)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(initTable)), names); diff != "" {
		t.Errorf("names in docs/stock-tools.md (-want +got):\n%s", diff)
	}
	known := append(slices.Clone(notForInit), names...)
	for _, tool := range []string{"tofu", "terraform"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			for _, found := range variableNames(t, testenv.Program(t, tool)) {
				if !slices.ContainsFunc(known, func(name string) bool { return strings.HasPrefix(found, name) }) {
					t.Errorf("the program has %s, which the table does not have", found)
				}
			}
			world := modtest.New(t, modtest.Txtar("-- registry/acme/network/aws/1.2.3/main.tf --\n"))
			for _, name := range testenv.Sample(names, kindOfInitName) {
				useInitName(t, newStockProject(t, world, tool, modtest.Txtar(
					"-- main.tf --\nvariable \"name\" {\n  default = \"\"\n}\nmodule \"network\" {\n  source = \"HOST/acme/network/aws\"\n}\n-- more.tfvars --\nname = \"x\"\n-- cli.tfrc --\n")), name)
			}
		})
	}
}

// kindOfInitName says whether a name is a flag, and whether Cotter warns that it does not follow it.
func kindOfInitName(name string) string {
	return fmt.Sprintf("flag %t, warns %t", strings.HasPrefix(name, "-"), initTable[name].warns)
}

// useInitName checks that Cotter installs the same with a variable or a flag, that it names one that it does not
// follow, and that the tool then finds everything in place.
func useInitName(t *testing.T, p *stockProject, name string) {
	t.Helper()
	p.mustRun(t, "install --for "+p.tool)
	want := files(t, p.project)
	p.fresh(t)
	row := initTable[name]
	variable := prefixes[name]
	switch {
	case strings.HasPrefix(name, "-") && row.value != "":
		variable = "TF_CLI_ARGS_init=" + name + "=" + row.value
	case strings.HasPrefix(name, "-"):
		variable = "TF_CLI_ARGS_init=" + name
	case variable == "":
		variable = name + "=" + row.value
	default:
		variable += "=" + row.value
	}
	if name == "-from-module" {
		variable += "=./elsewhere"
	}
	if name == "-lockfile" { // the lock has to be there
		p.mustRun(t, "lock --for "+p.tool)
	}
	install := p.run("install --for "+p.tool, variable)
	if install.status != 0 {
		t.Fatalf("%s: cotter install: status %d\n%s", variable, install.status, install.out)
	}
	if warned := strings.Contains(install.out, "does not follow"); warned != (row.warns && (p.tool == "tofu" || strings.HasPrefix(name, "-"))) {
		t.Errorf("%s: a warning is %t, want %t:\n%s", variable, warned, row.warns, install.out)
	}
	if diff := cmp.Diff(want, files(t, p.project)); diff != "" {
		t.Errorf("%s: cotter has installed something else (-want +got):\n%s", variable, diff)
	}
	if row.warns {
		return // the tool does something else
	}
	cmd := exec.Command(p.binary, "init", "-no-color", "-input=false")
	cmd.Dir, cmd.Env = p.project, append(p.environment(), variable)
	out, err := cmd.CombinedOutput()
	if err != nil && bytes.Contains(out, []byte("flag provided but not defined")) {
		return // only the other tool has it
	}
	if err != nil || bytes.Contains(out, []byte("Downloading")) {
		t.Errorf("%s: init has not found everything in place: %v\n%s", variable, err, out)
	}
}
