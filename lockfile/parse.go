package lockfile

import (
	"bytes"
	"context"
	"fmt"
	"runtime"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

const (
	// MaxSize limits lock files, in bytes. A module takes about 500, so real projects are far below.
	MaxSize = 32 << 20

	// maxTokens limits tokens, also in strings and comments. A module has about 120, so the lock of an
	// installation with the maximum of 20,000 modules can be read.
	maxTokens = 3_000_000

	// pieceSize is the approximate size of the pieces that are parsed at once. The parser keeps about a
	// hundred bytes for each token: a lock of ten thousand modules in one piece takes three times as long.
	pieceSize = 8 << 10
	// piecesAtOnce limits the syntax trees in memory. That of a whole lock takes more than its entries.
	piecesAtOnce = 64
)

// Parse parses a lock file. The name is used only in messages. A nil src means that the file does not
// exist, which [File.WriteFile] distinguishes from an empty file. It keeps src; the caller must not change
// it later.
//
// The error is a *[SyntaxError]. The file is then nil, because one that does not parse must not be written
// back.
func Parse(src []byte, filename string) (*File, error) {
	file, diags := parse(src, filename)
	if diags.HasErrors() {
		return nil, &SyntaxError{File: filename, Diagnostics: diags}
	}
	return file, nil
}

// SyntaxError says that a lock file is invalid.
type SyntaxError struct {
	File        string
	Diagnostics hcl.Diagnostics
}

// Error returns all errors, one a line.
func (e *SyntaxError) Error() string { return hcldepth.ErrorText(e.Diagnostics) }
func (e *SyntaxError) Unwrap() error { return e.Diagnostics }

func parse(src []byte, filename string) (*File, hcl.Diagnostics) {
	p := &parser{src: src, file: &File{src: src}}
	diags := eachBody(src, filename, pieceSize, func(body *hclsyntax.Body, isWhole bool) {
		if isWhole { // after some of its pieces
			p = &parser{src: src, file: &File{src: src}}
		}
		p.blocks(body)
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

// eachBody calls use with the parts of a file, in order, in pieces of about the given size, or if that
// fails with the whole file.
func eachBody(src []byte, filename string, size int, use func(body *hclsyntax.Body, isWhole bool)) hcl.Diagnostics {
	if diags := checkSize(src, filename); diags.HasErrors() {
		return diags
	}
	inPieces, ok := parsePieces(src, filename, size, func(body *hclsyntax.Body) { use(body, false) })
	if ok {
		return nil
	}
	body, diags := parseSyntax(src, filename, hcl.InitialPos)
	if diags.HasErrors() {
		return syntaxErrors(diags, inPieces)
	}
	use(body, true)
	return nil
}

// parsePieces calls decode with the parts of the file, in order. It returns false if there is only one
// piece, or if a piece has diagnostics, which it returns, or attributes, for example because it begins or
// ends within a block.
func parsePieces(src []byte, filename string, size int, decode func(*hclsyntax.Body)) (hcl.Diagnostics, bool) {
	starts := pieceStarts(src, size)
	if len(starts) == 1 {
		return nil, false
	}
	starts = append(starts, hcl.Pos{Byte: len(src)})
	for first := 0; first < len(starts)-1; first += piecesAtOnce {
		last := min(first+piecesAtOnce, len(starts)-1)
		bodies, diags := parseBetween(src, filename, starts[first:last+1])
		for i, body := range bodies {
			// Two pieces might have the same attribute, which is an error.
			if len(diags[i]) > 0 || len(body.Attributes) > 0 {
				return diags[i], false
			}
			decode(body)
		}
	}
	return nil, true
}

func parseBetween(src []byte, filename string, starts []hcl.Pos) ([]*hclsyntax.Body, []hcl.Diagnostics) {
	bodies, diags := make([]*hclsyntax.Body, len(starts)-1), make([]hcl.Diagnostics, len(starts)-1)
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i := range bodies {
		workers.Go(func() error {
			bodies[i], diags[i] = parseSyntax(src[starts[i].Byte:starts[i+1].Byte], filename, starts[i])
			return nil
		})
	}
	_ = workers.Wait() // nil
	return bodies, diags
}

// parseSyntax needs no context, because the limits keep it short. The body is nil if it was not parsed.
func parseSyntax(src []byte, filename string, start hcl.Pos) (*hclsyntax.Body, hcl.Diagnostics) {
	file, diags := hcldepth.ParseConfig(context.Background(), src, filename, start)
	if file == nil {
		return nil, diags
	}
	return file.Body.(*hclsyntax.Body), diags
}

// pieceStarts returns where pieces begin. Each but the first begins after the end of a block, with a line
// that looks like the header of a module or provider block.
func pieceStarts(src []byte, size int) []hcl.Pos {
	starts := []hcl.Pos{hcl.InitialPos}
	end := []byte("\n}\n")
	for at := hcl.InitialPos; ; {
		from := at.Byte + size
		if from >= len(src) {
			return starts
		}
		i := bytes.Index(src[from:], end)
		if i < 0 {
			return starts
		}
		next := from + i + len(end)
		for next < len(src) && src[next] == '\n' {
			next++
		}
		at = hcl.Pos{Byte: next, Line: at.Line + bytes.Count(src[at.Byte:next], []byte("\n")), Column: 1}
		if bytes.HasPrefix(src[next:], []byte("module \"")) || bytes.HasPrefix(src[next:], []byte("provider \"")) {
			starts = append(starts, at)
		}
	}
}

func checkSize(src []byte, filename string) hcl.Diagnostics {
	start := &hcl.Range{Filename: filename, Start: hcl.InitialPos, End: hcl.InitialPos}
	if len(src) > MaxSize {
		return failure("Lock file too large", fmt.Sprintf("The file has more than %d bytes.", MaxSize), start)
	}
	if tokens := hcldepth.CountTokens(src); tokens > maxTokens {
		return failure("Lock file too large", fmt.Sprintf("The file has about %d tokens (names, values, operators, brackets, line ends), and the limit is %d.", tokens, maxTokens), start)
	}
	return nil
}

// syntaxErrors returns the errors of a file that was not parsed: of the first piece with errors if the file
// is too large for one piece.
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

// MergeConflict is the [hcl.DiagnosticExtra] for a file with both sides of a merge conflict.
type MergeConflict struct {
	// Undecided says that a merge was tried, and that only the user can decide. Parse does not try it.
	Undecided bool
}

// conflictMarkers are the prefixes of the lines that git writes at merge conflicts.
var conflictMarkers = []string{"<<<<<<< ", "||||||| ", "=======", ">>>>>>> "}

// findConflict returns a diagnostic for the first conflict marker in a file that does not parse, where it
// cannot be text, or nil.
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
				Detail:   "The file holds both sides of a merge conflict.",
				Subject:  &hcl.Range{Filename: filename, Start: start, End: end},
				Extra:    MergeConflict{},
			}
		}
		offset += len(line)
	}
	return nil
}
