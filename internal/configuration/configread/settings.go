package configread

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Settings are what is literal in a module: the sources that it calls, and the versions of tofu that it is for.
type Settings struct {
	// CompatibleWith are the values of language.compatible_with.opentofu.
	CompatibleWith []string
	// Sources are the literal sources of the module calls, by name.
	Sources map[string]string
	// Partial says that something is missing: other sources, or what could not be read.
	Partial bool
}

var (
	settingsSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "language"},
		{Type: "module", LabelNames: []string{"name"}},
	}}
	languageSchema   = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "compatible_with"}}}
	compatibleSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "opentofu"}}}
	terraformSchema  = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "cloud"}, {Type: "backend", LabelNames: []string{"type"}}}}
)

// ReadSources reads the sources in a directory. It skips what it cannot read, and does not notice all syntax
// errors, because it parses little.
func (r Reader) ReadSources(ctx context.Context, dir Dir) Settings {
	return r.readSettings(ctx, dir, keyword)
}

// ReadCompatibleWith reads CompatibleWith in the same way.
func (r Reader) ReadCompatibleWith(ctx context.Context, dir Dir) []string {
	return r.readSettings(ctx, dir, languageWord).CompatibleWith
}

func (r Reader) readSettings(ctx context.Context, dir Dir, types ...[]byte) Settings {
	found := Settings{Sources: map[string]string{}}
	err := r.eachFile(ctx, dir, func(d *directory, f file) error {
		src, err := d.readConfig(f)
		if err != nil {
			found.Partial = true
			return nil
		}
		found.addFile(ctx, src, f, types)
		return nil
	})
	found.Partial = found.Partial || err != nil
	return found
}

var languageWord = []byte("language")

func (s *Settings) addFile(ctx context.Context, src []byte, f file, types [][]byte) {
	if !slices.ContainsFunc(types, func(word []byte) bool { return mayHold(src, f.json, word) }) {
		return
	}
	var blocks []scannedBlock
	scanned := false
	if !f.json {
		blocks, scanned = scanBlocks(src, f.name)
	}
	if !scanned {
		s.addParsed(ctx, src, f)
		return
	}
	for _, b := range blocks {
		switch {
		case b.kind == "module" && len(b.labels) == 1 && b.sources == 1 && b.source != "":
			s.Sources[b.labels[0]] = b.source
		case containsWord(types, b.kind):
			s.addParsed(ctx, b.text(src), f)
		}
	}
}

func (s *Settings) addParsed(ctx context.Context, src []byte, f file) {
	body, diags := parse(ctx, src, f.name, f.json, hcl.InitialPos)
	s.Partial = s.Partial || diags.HasErrors()
	if body != nil {
		s.add(body)
	}
}

var (
	rootSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "terraform"},
		{Type: "provider", LabelNames: []string{"name"}},
	}}
	wordsOfRoots = [][]byte{[]byte("provider"), []byte("backend"), []byte("cloud")}
)

// HasRootBlocks reports whether a directory has blocks that are meant for root modules: a provider
// configuration, a backend, or a cloud block. A provider block with only an alias is the old way of
// declaring that the caller passes the provider. It skips what it cannot read.
func (r Reader) HasRootBlocks(ctx context.Context, dir Dir) (found bool) {
	_ = r.eachFile(ctx, dir, func(d *directory, f file) error {
		if !found {
			body, _ := d.parseFile(ctx, f, wordsOfRoots...)
			found = body != nil && hasRootBlocks(body)
		}
		return nil
	})
	return found
}

func hasRootBlocks(body hcl.Body) bool {
	content, _, _ := body.PartialContent(rootSchema)
	for _, block := range content.Blocks {
		if block.Type == "provider" {
			arguments, diags := block.Body.JustAttributes()
			if diags.HasErrors() || len(arguments) != 1 || arguments["alias"] == nil {
				return true
			}
			continue
		}
		if inner, _, _ := block.Body.PartialContent(terraformSchema); len(inner.Blocks) > 0 {
			return true
		}
	}
	return false
}

func (s *Settings) add(body hcl.Body) {
	content, _, _ := body.PartialContent(settingsSchema)
	for _, block := range content.Blocks {
		if block.Type == "module" {
			inner, _, _ := block.Body.PartialContent(moduleSchema)
			source, ok := literalText(inner.Attributes["source"])
			if ok {
				s.Sources[block.Labels[0]] = source
			}
			s.Partial = s.Partial || !ok
			continue
		}
		s.addLanguage(block.Body)
	}
}

func (s *Settings) addLanguage(body hcl.Body) {
	inner, _, _ := body.PartialContent(languageSchema)
	for _, block := range inner.Blocks {
		versions, _, _ := block.Body.PartialContent(compatibleSchema)
		if version, ok := literalText(versions.Attributes["opentofu"]); ok {
			s.CompatibleWith = append(s.CompatibleWith, version)
		}
	}
}
