package lockfile

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/hcldepth"
)

const (
	// MaxSize is the maximum size of lock files, in bytes. A module takes about 500 bytes,
	// so the limit is far above any real project.
	MaxSize = 32 << 20

	// MaxTokens is the maximum number of tokens, where text in strings and comments counts as
	// code. A module has about 120 of them, so that the lock of an installation with the maximum
	// of 20,000 modules can be read.
	MaxTokens = 3_000_000

	// maxFaults is the number of errors after which the rest of the file is not read.
	maxFaults = 1_000

	// MaxNesting is the maximum depth of nested brackets. Module blocks need two levels;
	// the parser would exhaust the stack at about ten thousand.
	MaxNesting = hcldepth.MaxDepth
)

// Parse parses a lock file. The name is used only in messages. A nil src means that the
// file does not exist; [File.WriteFile] distinguishes that from an empty file.
//
// All returned diagnostics are errors, and the file is nil if there are any: a file that
// does not parse must not be written back. Parse keeps src; the caller must not change it
// later.
func Parse(src []byte, filename string) (*File, hcl.Diagnostics) {
	var p *parser
	diags := eachBody(src, filename, pieceSize, func() func(*hclsyntax.Body) {
		p = newParser(src)
		return p.blocks
	})
	if diags.HasErrors() {
		if conflict := findConflict(src, filename); conflict != nil {
			return nil, hcl.Diagnostics{conflict}
		}
		return nil, diags
	}
	if p.diags.HasErrors() {
		return nil, p.diags
	}
	return p.file, nil
}

// eachBody parses a file in pieces of about the given size, and calls the function that begin
// returns with each of them, in order. If that fails, it calls begin again and parses the whole
// file.
func eachBody(src []byte, filename string, size int, begin func() func(*hclsyntax.Body)) hcl.Diagnostics {
	if diags := checkSize(src, filename); diags.HasErrors() {
		return diags
	}
	inPieces, ok := parsePieces(src, filename, size, begin())
	if ok {
		return nil
	}
	body, diags := parseSyntax(src, filename, hcl.InitialPos)
	if diags.HasErrors() {
		return syntaxErrors(diags, inPieces)
	}
	begin()(body)
	return nil
}

func newParser(src []byte) *parser {
	return &parser{src: src, file: &File{
		src:     src,
		entries: map[string]*entry{}, byKey: map[string]*block{},
		providers: map[addrs.Provider]*providerEntry{}, providerBy: map[addrs.Provider]*providerBlock{},
	}}
}

// blocks adds the blocks in a part of the file, until there are too many errors.
func (p *parser) blocks(body *hclsyntax.Body) {
	for _, name := range slices.Sorted(maps.Keys(body.Attributes)) {
		p.unknown(body.Attributes[name].NameRange, "Unsupported argument", "The file has provider and module blocks only, but this is the argument %.300q. Remove it: tofu and terraform refuse the file.", name)
	}
	for _, b := range body.Blocks {
		if p.stopped {
			return
		}
		switch b.Type {
		case "module":
			p.module(b)
		case "provider":
			p.provider(b)
		default:
			p.unknown(b.DefRange(), "Unsupported block", "The file has provider and module blocks only, but this is a block of type %.300q. Remove it: tofu and terraform refuse the file.", b.Type)
		}
		if max(len(p.diags), len(p.file.providerFaults)) > maxFaults {
			p.fail(b.DefRange(), "Too many errors in lock file", "The blocks up to here have more than %d errors. The rest of the file was not read.", maxFaults)
			p.stopped = true
		}
	}
}

// unknown adds content that only stock tools refuse.
func (p *parser) unknown(at hcl.Range, summary, format string, args ...any) {
	if len(p.file.unknownContent) < maxFaults {
		p.file.unknownContent = append(p.file.unknownContent, failure(summary, fmt.Sprintf(format, args...), &at)...)
	}
}

// checkSize returns a diagnostic if the file has too many bytes or tokens.
func checkSize(src []byte, filename string) hcl.Diagnostics {
	start := &hcl.Range{Filename: filename, Start: hcl.InitialPos, End: hcl.InitialPos}
	if len(src) > MaxSize {
		return failure("Lock file too large", fmt.Sprintf("The file has more than %d bytes.", MaxSize), start)
	}
	if tokens := hcldepth.CountTokens(src); tokens > MaxTokens {
		return failure("Lock file too large", fmt.Sprintf("The file has about %d tokens (names, values, operators, brackets, line ends), and the limit is %d.", tokens, MaxTokens), start)
	}
	return nil
}

// syntaxErrors returns the errors of a file that was not parsed. If the file is too large to be
// parsed in one piece, these are the errors of the first of its pieces that has any.
func syntaxErrors(diags, inPieces hcl.Diagnostics) hcl.Diagnostics {
	if _, ok := diags[0].Extra.(*hcldepth.SizeError); ok && inPieces.HasErrors() {
		diags = inPieces
	}
	for _, diag := range diags {
		switch err := diag.Extra.(type) {
		case *hcldepth.SizeError:
			return failure("Lock file too large", fmt.Sprintf("%s.", err), diag.Subject)
		case *hcldepth.DepthError:
			return failure("Lock file cannot be parsed safely", fmt.Sprintf("%s.", err), diag.Subject)
		}
	}
	return diags
}

func failure(summary, detail string, subject *hcl.Range) hcl.Diagnostics {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: subject}}
}

// MergeConflict is the Extra of the diagnostic for a file that contains both sides of a
// merge conflict; see [hcl.DiagnosticExtra].
type MergeConflict struct{}

// conflictMarkers are the prefixes of the lines that git writes into a file with
// merge conflicts.
var conflictMarkers = []string{"<<<<<<< ", "||||||| ", "=======", ">>>>>>> "}

// findConflict returns a diagnostic for the first conflict marker in a file that does not
// parse, or nil if there is no marker. In a file that parses, such a line is text.
func findConflict(src []byte, filename string) *hcl.Diagnostic {
	if len(src) > MaxSize {
		return nil
	}
	number, offset := 0, 0
	for line := range bytes.Lines(src) {
		number++
		for _, marker := range conflictMarkers {
			if !bytes.HasPrefix(line, []byte(marker)) {
				continue
			}
			start := hcl.Pos{Line: number, Column: 1, Byte: offset}
			end := hcl.Pos{Line: number, Column: 1 + len(marker), Byte: offset + len(marker)}
			return &hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Merge conflict in lock file",
				Detail:   "The file holds both sides of a merge conflict. Keep one side of each and remove the marker lines.",
				Subject:  &hcl.Range{Filename: filename, Start: start, End: end},
				Extra:    MergeConflict{},
			}
		}
		offset += len(line)
	}
	return nil
}
