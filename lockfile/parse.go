package lockfile

import (
	"bytes"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/internal/hcldepth"
)

const (
	// MaxSize is the largest lock file that is read, in bytes. A module takes
	// about 500, so this is far beyond any real project, and well below what
	// the parser could not handle in memory.
	MaxSize = 32 << 20

	// MaxNesting is how deeply brackets may nest. Our own blocks need two
	// levels; the parser would exhaust the stack at some ten thousand.
	MaxNesting = hcldepth.MaxDepth
)

// Parse reads a lock file. The name is for messages only. Nil means a file that
// does not exist, which is different from an empty one to [File.WriteFile].
//
// If there are errors among the diagnostics the file is nil: a file that was
// does not parse must not be written back. Otherwise there are no diagnostics.
// Parse keeps src, which must not change any more.
func Parse(src []byte, filename string) (*File, hcl.Diagnostics) {
	body, diags := parseBody(src, filename)
	if diags.HasErrors() {
		if conflict := findConflict(src, filename); conflict != nil {
			return nil, hcl.Diagnostics{conflict}
		}
		return nil, diags
	}
	p := parser{src: src, file: &File{src: src, entries: map[string]*entry{}, byKey: map[string]*block{}}}
	for _, b := range body.Blocks {
		switch b.Type {
		case "module":
			p.module(b)
		case "provider":
			if len(p.file.providers) == 0 {
				p.file.firstProvider = b.TypeRange.Start.Byte
			}
			if len(b.Labels) > 0 {
				p.file.providers = append(p.file.providers, b.Labels[0])
			}
		}
	}
	if p.diags.HasErrors() {
		return nil, p.diags
	}
	return p.file, nil
}

// parseBody bounds size and depth and parses the syntax.
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

// MergeConflict is the Extra of the diagnostic of a file that holds both sides of a
// merge conflict; see [hcl.DiagnosticExtra].
type MergeConflict struct{}

// conflictMarkers begin lines that git leaves in a file it could not merge.
var conflictMarkers = []string{"<<<<<<< ", "||||||| ", "=======", ">>>>>>> "}

// findConflict looks for the first conflict marker in a file that could not be
// parsed. In a file that could, such a line is text.
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
