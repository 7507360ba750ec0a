package configs

import (
	"bytes"
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/hcldepth"
)

// maxSyntaxErrors limits the diagnostics of one file. A file that is not configuration at all
// could have one in each line.
const maxSyntaxErrors = 20

var fileSchema = &hcl.BodySchema{
	Blocks: []hcl.BlockHeaderSchema{{Type: "module", LabelNames: []string{"name"}}},
}

var moduleSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "source"}, {Name: "version"}},
}

// readFile reads the module blocks of one file. If requirements is not nil, it also adds the
// file's provider requirements. The file is parsed at most once.
func (d *directory) readFile(ctx context.Context, f file, requirements *requirements) ([]*block, hcl.Diagnostics) {
	display := d.dir.display(f.name)
	src, err := d.read(f.name)
	if err != nil {
		return nil, hcl.Diagnostics{unreadableFile(display, err)}
	}
	if !mayHold(src, f.json, keyword) {
		if requirements != nil {
			requirements.addFile(ctx, src, f, display)
		}
		return nil, nil
	}
	body, diags := parse(ctx, src, display, f.json, hcl.InitialPos)
	if body == nil {
		return nil, diags
	}
	if requirements != nil {
		requirements.addBody(ctx, body, f.override)
	}
	content, _, contentDiags := body.PartialContent(fileSchema)
	blocks, blockDiags := decodeBlocks(content.Blocks, diags.HasErrors())
	diags = append(append(diags, contentDiags...), blockDiags...)
	return blocks, limitSyntaxErrors(diags, display)
}

// parseFile parses a file unless it has no block of the given types. The body is nil if it has
// none, or if the file could not be read.
func (d *directory) parseFile(ctx context.Context, f file, types ...[]byte) (hcl.Body, hcl.Diagnostics) {
	display := d.dir.display(f.name)
	src, err := d.read(f.name)
	if err != nil {
		return nil, hcl.Diagnostics{unreadableFile(display, err)}
	}
	for _, blockType := range types {
		if mayHold(src, f.json, blockType) {
			return parse(ctx, src, display, f.json, hcl.InitialPos)
		}
	}
	return nil, nil
}

// parse parses a file, or a part of a file in native syntax that begins at start. It refuses
// files that are too large or nested too deeply.
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

// mayHold reports whether a file can have a block of a type, without parsing the file. Most files
// of a module have no module call.
//
// In JSON, the key may be written with \u escapes. In native syntax, the word must be in a
// position where a block can begin, and a label must follow, so neither "path.module" nor
// "module.x.y" counts.
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

// beginsBlock reports whether a block can begin after these bytes: at the beginning of the file
// or of a line, after blanks or a comment, or after a byte order mark.
func beginsBlock(before []byte) bool {
	if len(before) == 0 {
		return true
	}
	switch before[len(before)-1] {
	case ' ', '\t', '\n', '\r', '/', 0xBF:
		return true
	}
	return false
}

// endsKeyword reports whether these bytes begin with a label, a blank, a comment or the body of a
// block.
func endsKeyword(behind []byte) bool {
	if len(behind) == 0 {
		return false
	}
	switch behind[0] {
	case ' ', '\t', '"', '/', '{':
		return true
	}
	return false
}
