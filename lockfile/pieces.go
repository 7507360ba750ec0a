package lockfile

import (
	"bytes"
	"runtime"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/internal/hcldepth"
)

// pieceSize is the approximate size of the pieces that are parsed at once. The parser keeps
// all tokens of its input, at about a hundred bytes each. Parsing a lock of ten thousand
// modules in one piece takes three times as long.
const pieceSize = 8 << 10

// parseSyntax returns the result of [hcldepth.ParseConfig]. It parses the file in pieces of
// about the given size. If a piece has a syntax error, for example because it begins or
// ends within a block, parseSyntax parses the whole file instead.
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

// parsePieces parses src in pieces. It returns nil if there is only one piece, or
// if the pieces have diagnostics or attributes.
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
		// Two pieces might have the same attribute, which is an error.
		if body == nil || len(body.Attributes) > 0 {
			return nil
		}
		whole.Blocks = append(whole.Blocks, body.Blocks...)
	}
	return whole
}

// pieceStarts returns the positions at which pieces begin. Each piece except the
// first begins with a line that looks like the header of a module block and follows
// the end of a block.
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
