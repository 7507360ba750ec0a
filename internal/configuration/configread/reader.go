package configread

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

// Reader reads module calls. The zero value reads the tofu dialect. It is safe for concurrent use.
type Reader struct {
	// Terraform reads the terraform dialect: no .tofu files, and in sources and versions only
	// variables with const = true.
	Terraform bool
	// TerraformFiles reads the files that Terraform reads, and their expressions as OpenTofu does.
	// Terraform implies it.
	TerraformFiles bool
	// Providers makes Read return provider requirements.
	Providers bool
}

func (r Reader) tool() string {
	if r.Terraform {
		return "terraform"
	}
	return "tofu"
}

type Dir struct {
	Module addrs.Module
	Path   string
	// Files are those of the package, which links must not leave, and Subdir is the directory in them. Only
	// one of the user's own modules may have no files here. It is read from Path.
	Files  fs.FS
	Subdir string
	// Display is the directory in ranges and in path.module. "" means Path.
	Display string
	// Tree is the configuration of the module; nil means one without inputs.
	Tree *Tree
	// Tests is the directory of a root module's tests, relative to Path. If it is "", they are not read.
	Tests string
}

func (d Dir) inPackage() bool { return d.Files != nil }

func (d Dir) scope() *scope {
	if d.Tree == nil {
		d.Tree = NewTree(config.Inputs{})
	}
	found := d.Tree.scope(d.Module)
	found.read(d)
	return found
}

// Read reads the calls and the requirements of a directory, as far as they have no errors. Calls are
// sorted by name, followed by those in tests, and diagnostics by position.
func (r Reader) Read(ctx context.Context, dir Dir) (config.Module, hcl.Diagnostics) {
	scope := dir.scope()
	tree := scope.tree
	files := tree.parsed.files(ctx, r, dir)
	m, diags := config.Module{Providers: files.providers, ProviderDiagnostics: copies(files.providerDiags)}, copies(files.diags)
	for _, diag := range m.ProviderDiagnostics {
		if wrong, ok := diag.Extra.(*config.ProviderError); ok {
			use := wrong.RequiredBy[0]
			use.Path = dir.Module
			diag.Extra = &config.ProviderError{Provider: wrong.Provider, RequiredBy: []config.ProviderRequirement{use}, Err: wrong.Err}
		}
	}
	if !dir.inPackage() {
		tree.withoutText(dir, diags)
		tree.withoutText(dir, m.ProviderDiagnostics)
	}
	arguments := r.arguments(ctx, scope, diags)
	if scope.isRoot() && !dir.inPackage() {
		diags = append(diags, arguments.evaluation.inputWarnings(scope, files.constants)...)
	}
	for _, b := range files.blocks {
		call, ok, callDiags := arguments.call(ctx, b)
		diags = append(diags, callDiags...)
		if ok {
			tree.add(call.PathIn(dir.Module), scope.child(call.Name, call.Range))
			m.Calls = append(m.Calls, call)
		}
	}
	slices.SortFunc(m.Calls, func(a, b config.Call) int { return cmp.Compare(a.Name, b.Name) })
	for _, run := range files.tests {
		called := scope.child(run.call.Name, run.call.Range)
		called.run = run
		tree.add(run.call.PathIn(dir.Module), called)
		m.Calls = append(m.Calls, run.call)
	}
	slices.SortStableFunc(diags, compareRanges)
	return m, diags
}

func copies(diags hcl.Diagnostics) hcl.Diagnostics {
	var list hcl.Diagnostics
	for _, diag := range diags {
		one := *diag
		list = append(list, &one)
	}
	return list
}

// RequiresHostless reports whether a directory requires a provider without naming its host. It skips
// what it cannot read.
func (r Reader) RequiresHostless(ctx context.Context, dir Dir) bool {
	requirements := r.newRequirements()
	_, _, _ = r.readBlocks(ctx, dir, requirements) // Read reports what is wrong
	found, _ := requirements.resolve()
	return slices.ContainsFunc(found, func(p config.ProviderRequirement) bool { return p.Hostless })
}

// compareRanges sorts diagnostics about the directory itself first.
func compareRanges(a, b *hcl.Diagnostic) int { return comparePositions(rangeOf(a), rangeOf(b)) }

func rangeOf(d *hcl.Diagnostic) hcl.Range {
	if d.Subject == nil {
		return hcl.Range{}
	}
	return *d.Subject
}

// readBlocks reads the module blocks of all files, with overrides, and adds their requirements to
// requirements, if it is not nil. constants reports whether a variable may have the argument const.
func (r Reader) readBlocks(ctx context.Context, dir Dir, requirements *requirements) (blocks []*block, constants bool, diags hcl.Diagnostics) {
	var merged blockSet
	err := r.eachFile(ctx, dir, func(d *directory, f file) error {
		blocks, fileDiags := d.readFile(ctx, f, requirements)
		diags = append(append(diags, fileDiags...), merged.add(blocks, f.override)...)
		constants = d.constants
		return nil
	})
	return merged.blocks, constants, append(diags, unreadable(ctx, dir, err)...)
}

// maxSyntaxErrors limits the diagnostics of one file: one that is no configuration has one in each line.
const maxSyntaxErrors = 20

var fileSchema = &hcl.BodySchema{
	Blocks: []hcl.BlockHeaderSchema{{Type: "module", LabelNames: []string{"name"}}},
}

var moduleSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "source"}, {Name: "version"}},
}

// readFile is readBlocks for one file, which it parses at most once.
func (d *directory) readFile(ctx context.Context, f file, requirements *requirements) ([]*block, hcl.Diagnostics) {
	display := d.dir.display(f.name)
	src, err := d.readConfig(f)
	if err != nil {
		return nil, hcl.Diagnostics{unreadableFile(display, err)}
	}
	d.constants = d.constants || hasConst(src)
	if !mayHold(src, f.json, keyword) {
		if requirements != nil {
			requirements.addFile(ctx, src, f, display)
		}
		return nil, nil
	}
	body, diags, reduced := parseBlocks(ctx, src, f, display, keyword)
	if !reduced {
		body, diags = parse(ctx, src, display, f.json, hcl.InitialPos)
	}
	if body == nil {
		return nil, diags
	}
	switch {
	case requirements == nil:
	case reduced:
		requirements.addFile(ctx, src, f, display)
	default:
		requirements.addBody(ctx, body, f.override)
	}
	content, _, contentDiags := body.PartialContent(fileSchema)
	blocks, blockDiags := decodeBlocks(content.Blocks, diags.HasErrors())
	diags = append(append(diags, contentDiags...), blockDiags...)
	return blocks, limitSyntaxErrors(diags, display)
}

// parseFile returns nil for a file without blocks of the given types, or that could not be read.
func (d *directory) parseFile(ctx context.Context, f file, types ...[]byte) (hcl.Body, hcl.Diagnostics) {
	display := d.dir.display(f.name)
	src, err := d.readConfig(f)
	if err != nil {
		return nil, hcl.Diagnostics{unreadableFile(display, err)}
	}
	if !slices.ContainsFunc(types, func(word []byte) bool { return mayHold(src, f.json, word) }) {
		return nil, nil
	}
	// Some types are of blocks in a terraform block.
	if body, diags, ok := parseBlocks(ctx, src, f, display, append(slices.Clone(types), terraformWord)...); ok {
		return body, diags
	}
	return parse(ctx, src, display, f.json, hcl.InitialPos)
}

// parse parses a file, or a part of a file in native syntax that begins at start.
func parse(ctx context.Context, src []byte, display string, isJSON bool, start hcl.Pos) (hcl.Body, hcl.Diagnostics) {
	var parsed *hcl.File
	var diags hcl.Diagnostics
	if isJSON {
		parsed, diags = hcldepth.ParseJSON(ctx, src, display)
	} else {
		parsed, diags = hcldepth.ParseConfig(ctx, src, display, start)
	}
	if parsed == nil || parsed.Body == nil {
		return nil, diags
	}
	return parsed.Body, diags
}

var (
	keyword     = []byte("module")
	unicodeRune = []byte(`\u`)
)

// mayHold reports whether a file can have a block of a type, without parsing it. Most files of a module
// have no module call. In JSON, the key may be written with \u escapes. In native syntax, a block must be
// able to begin before the word, and a label must follow: "path.module" and "module.x.y" do not count.
func mayHold(src []byte, isJSON bool, keyword []byte) bool {
	if isJSON {
		return bytes.Contains(src, keyword) || bytes.Contains(src, unicodeRune)
	}
	for offset := 0; ; {
		i := bytes.Index(src[offset:], keyword)
		if i < 0 {
			return false
		}
		start := offset + i
		offset = start + len(keyword)
		if beginsBlock(src[:start]) && endsKeyword(src[offset:]) {
			return true
		}
	}
}

// beginsBlock accepts the beginning of a file or a line, blanks, a comment and a byte order mark.
func beginsBlock(before []byte) bool {
	return len(before) == 0 || strings.IndexByte(" \t\n\r/\xBF", before[len(before)-1]) >= 0
}

// endsKeyword accepts a label, a blank, a comment and the body of a block.
func endsKeyword(behind []byte) bool {
	return len(behind) > 0 && strings.IndexByte(" \t\"/{", behind[0]) >= 0
}
