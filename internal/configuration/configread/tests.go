package configread

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
)

// DefaultTests is the directory in which stock tools look for tests.
const DefaultTests = "tests"

var (
	testSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "run", LabelNames: []string{"name"}}}}
	runSchema  = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "module"}, {Type: "variables"}}}
	runWord    = []byte("run")
)

// The second of each pair is OpenTofu's, whose file replaces one with the first suffix.
var testSuffixes = [][2]string{{".tftest.hcl", ".tofutest.hcl"}, {".tftest.json", ".tofutest.json"}}

// run is a run block with a module.
type run struct {
	call config.Call
	// variables are the variables of the module. Their expressions refer to what the root module declares.
	variables hcl.Attributes
}

func (r Reader) testCalls(ctx context.Context, dir Dir, requirements *requirements) ([]*run, hcl.Diagnostics) {
	var calls []*run
	var diags hcl.Diagnostics
	for _, below := range slices.Compact([]string{".", path.Clean(filepath.ToSlash(dir.Tests))}) {
		found, foundDiags := r.testsIn(ctx, dir, below, requirements)
		calls, diags = append(calls, found...), append(diags, foundDiags...)
	}
	return calls, diags
}

func (r Reader) testsIn(ctx context.Context, root Dir, below string, requirements *requirements) ([]*run, hcl.Diagnostics) {
	dir := Dir{Path: filepath.Join(root.Path, filepath.FromSlash(below)), Display: root.display(below)}
	d := openDirectory(dir)
	names, err := d.names()
	if errors.Is(err, fs.ErrNotExist) && below == DefaultTests {
		return nil, nil
	}
	if err != nil {
		return nil, hcl.Diagnostics{unreadableDirectory(dir, err)}
	}
	var calls []*run
	var diags hcl.Diagnostics
	for _, name := range names {
		if !r.isTest(name, names) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return calls, append(diags, unreadable(ctx, dir, err)...)
		}
		f := file{name: name, json: strings.HasSuffix(name, ".json")}
		src, err := d.read(name)
		if err != nil {
			diags = append(diags, unreadableFile(dir.display(name), err))
			continue
		}
		hasRuns := mayHold(src, f.json, runWord)
		if !hasRuns && (requirements == nil || !mayHold(src, f.json, providerWord)) {
			continue
		}
		body, fileDiags := parse(ctx, src, dir.display(name), f.json, hcl.InitialPos)
		if body != nil && requirements != nil {
			requirements.addTest(body, path.Join(below, name))
		}
		if !hasRuns {
			requirements.diags = append(requirements.diags, limitSyntaxErrors(fileDiags, dir.display(name))...)
			continue
		}
		if body != nil {
			found, callDiags := r.runs(ctx, body, dir, path.Join(below, name))
			calls, fileDiags = append(calls, found...), append(fileDiags, callDiags...)
		}
		diags = append(diags, limitSyntaxErrors(fileDiags, dir.display(name))...)
	}
	return calls, diags
}

func (r Reader) isTest(name string, names []string) bool {
	if strings.HasPrefix(name, ".") {
		return false
	}
	for _, suffixes := range testSuffixes {
		if stem, ok := strings.CutSuffix(name, suffixes[0]); ok {
			_, replaced := slices.BinarySearch(names, stem+suffixes[1])
			return r.Terraform || !replaced
		}
		if strings.HasSuffix(name, suffixes[1]) {
			return !r.Terraform
		}
	}
	return false
}

// runs returns the calls in a test file, whose name is relative to the root module.
func (r Reader) runs(ctx context.Context, body hcl.Body, dir Dir, name string) ([]*run, hcl.Diagnostics) {
	content, _, diags := body.PartialContent(testSchema)
	// Stock tools join the names of the directories and of the file with dots, and never split the key.
	prefix := strings.Split("test."+strings.ReplaceAll(strings.TrimSuffix(name, testSuffixes[0][0]), "/", "."), ".")
	var calls []*run
	seen := make(map[string]bool)
	for _, block := range content.Blocks {
		inner, _, runDiags := block.Body.PartialContent(runSchema)
		diags = append(diags, runDiags...)
		variables, variableDiags := runVariables(inner)
		diags = append(diags, variableDiags...)
		for _, module := range inner.Blocks.OfType("module") {
			call, callDiags := r.runCall(ctx, block.Labels[0], module, dir)
			diags = append(diags, callDiags...)
			if callDiags.HasErrors() || call.Source == "" && len(callDiags) > 0 {
				continue
			}
			call.Prefix = slices.Clone(prefix)
			key := strings.Join(append(slices.Clone(prefix), call.Name), ".")
			if _, err := addrs.ParseModule(key); err != nil || seen[key] {
				diags = append(diags, badTestName(key, seen[key], block.DefRange))
				continue
			}
			seen[key] = true
			calls = append(calls, &run{call, variables})
		}
	}
	return calls, diags
}

func runVariables(content *hcl.BodyContent) (hcl.Attributes, hcl.Diagnostics) {
	for _, block := range content.Blocks.OfType("variables") {
		return block.Body.JustAttributes() // stock tools refuse a second one
	}
	return nil, nil
}

func (r Reader) runCall(ctx context.Context, name string, module *hcl.Block, dir Dir) (config.Call, hcl.Diagnostics) {
	if !hclsyntax.ValidIdentifier(name) {
		return config.Call{}, hcl.Diagnostics{fault(module.DefRange, "Invalid run block name", "%q cannot be the name of a run: it must begin with a letter or an underscore and may hold only letters, digits, underscores and dashes.", name)}
	}
	content, _, diags := module.Body.PartialContent(moduleSchema)
	if diags.HasErrors() {
		return config.Call{}, diags
	}
	b := &block{name: name, header: module.DefRange, source: content.Attributes["source"], version: content.Attributes["version"]}
	if b.source == nil {
		return config.Call{}, hcl.Diagnostics{missingSource(b)}
	}
	// The arguments in a test must be literals in both dialects.
	literal := &arguments{reader: r}
	call, ok, diags := literal.call(ctx, b)
	if !ok && !diags.HasErrors() {
		diags = hcl.Diagnostics{missingSource(b)}
	}
	return call, diags
}

func badTestName(key string, twice bool, at hcl.Range) *hcl.Diagnostic {
	if twice {
		return fault(at, "Duplicate run block", "There are two runs with modules that would both be installed as %q. Rename one of them.", key)
	}
	return fault(at, "Invalid test file name", "The module of this run would be installed as %q, which cannot be a module's key: the names of the directory and of the file must be printable UTF-8 without backslashes.", key)
}
