package lockfile

import (
	"bytes"
	"context"
	"runtime"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/internal/hcldepth"
)

const (
	// pieceSize is the approximate size of the pieces that are parsed at once. The parser keeps
	// all tokens of its input, at about a hundred bytes each. Parsing a lock of ten thousand
	// modules in one piece takes three times as long.
	pieceSize = 8 << 10
	// piecesAtOnce is the number of pieces whose syntax trees are in memory at the same time. The
	// syntax tree of a whole lock takes more memory than its entries.
	piecesAtOnce = 64
)

// parsePieces calls decode with the parts of the file, in order. It parses the file in pieces of
// about the given size. It returns false if there is only one piece, or if a piece has diagnostics
// or attributes, for example because it begins or ends within a block. The diagnostics are those
// of the first such piece.
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

// parseBetween parses the pieces that begin at all positions but the last.
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

// parseSyntax parses a file or a piece. The limits keep this short, so that it needs no context.
// The body is nil if it was not parsed.
func parseSyntax(src []byte, filename string, start hcl.Pos) (*hclsyntax.Body, hcl.Diagnostics) {
	file, diags := hcldepth.ParseConfig(context.Background(), src, filename, start)
	if file == nil {
		return nil, diags
	}
	return file.Body.(*hclsyntax.Body), diags
}

// pieceStarts returns the positions at which pieces begin. Each piece except the
// first begins with a line that looks like the header of a module or provider block and
// follows the end of a block.
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
