package lockfile

import (
	"bytes"
	"runtime"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/internal/hcldepth"
)

// pieceSize is about how much of a lock file is parsed at once. The parser keeps
// all tokens of what it parses, a hundred bytes for each; a lock of ten thousand
// modules takes it three times as long in one piece.
const pieceSize = 8 << 10

// parseSyntax returns what [hcldepth.ParseConfig] does. It parses by pieces of
// about a size, and the whole file if a piece has a syntax error, which it has if
// it begins or ends within a block.
func parseSyntax(src []byte, filename string, size int) (*hclsyntax.Body, hcl.Diagnostics) {
	if body := parsePieces(src, filename, size); body != nil {
		return body, nil
	}
	file, diags := hcldepth.ParseConfig(src, filename, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	return file.Body.(*hclsyntax.Body), nil
}

// parsePieces returns nil if there is one piece only, or not all is well.
func parsePieces(src []byte, filename string, size int) *hclsyntax.Body {
	starts := pieceStarts(src, size)
	if len(starts) == 1 {
		return nil
	}
	bodies := make([]*hclsyntax.Body, len(starts))
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, start := range starts {
		end := len(src)
		if i+1 < len(starts) {
			end = starts[i+1].Byte
		}
		workers.Go(func() error {
			file, diags := hcldepth.ParseConfig(src[start.Byte:end], filename, start)
			if len(diags) == 0 {
				bodies[i] = file.Body.(*hclsyntax.Body)
			}
			return nil
		})
	}
	_ = workers.Wait() // nil
	whole := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}}
	for _, body := range bodies {
		// Attributes of one name in two pieces would be an error.
		if body == nil || len(body.Attributes) > 0 {
			return nil
		}
		whole.Blocks = append(whole.Blocks, body.Blocks...)
	}
	return whole
}

// pieceStarts are the places where pieces begin: each but the first with a line
// that looks like the header of a module block, behind one that closes a block.
func pieceStarts(src []byte, size int) []hcl.Pos {
	starts := []hcl.Pos{hcl.InitialPos}
	end, header := []byte("\n}\n"), []byte("module \"")
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
		if bytes.HasPrefix(src[next:], header) {
			starts = append(starts, at)
		}
	}
}
