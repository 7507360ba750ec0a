package lockfile

import (
	"bytes"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/hcldepth"
)

const (
	// MaxSize is the maximum size of lock files, in bytes. A module takes about 500 bytes,
	// so the limit is far above any real project. It is well below the size at which the
	// parser would exhaust memory.
	MaxSize = 32 << 20

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
	body, diags := parseBody(src, filename)
	if diags.HasErrors() {
		if conflict := findConflict(src, filename); conflict != nil {
			return nil, hcl.Diagnostics{conflict}
		}
		return nil, diags
	}
	p := parser{src: src, file: &File{
		src:     src,
		entries: map[string]*entry{}, byKey: map[string]*block{},
		providers: map[addrs.Provider]*providerEntry{}, providerBy: map[addrs.Provider]*providerBlock{},
	}}
	for _, b := range body.Blocks {
		switch b.Type {
		case "module":
			p.module(b)
		case "provider":
			p.provider(b)
		}
	}
	if p.diags.HasErrors() {
		return nil, p.diags
	}
	return p.file, nil
}

// parseBody checks the size and the depth, and parses the syntax.
func parseBody(src []byte, filename string) (*hclsyntax.Body, hcl.Diagnostics) {
	if len(src) > MaxSize {
		start := &hcl.Range{Filename: filename, Start: hcl.InitialPos, End: hcl.InitialPos}
		return nil, failure("Lock file too large", fmt.Sprintf("The file has more than %d bytes.", MaxSize), start)
	}
	body, diags := parseSyntax(src, filename, pieceSize)
	for _, diag := range diags {
		if deep, ok := diag.Extra.(*hcldepth.DepthError); ok {
			return nil, failure("Lock file cannot be parsed safely", fmt.Sprintf("%s.", deep), diag.Subject)
		}
	}
	return body, diags
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
