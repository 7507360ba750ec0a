package main

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's own object names
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/git/gittest"
)

// gitObject returns the name of an object, as in a tree.
func gitObject(kind string, size int, parts ...[]byte) []byte {
	h := sha1.New() //nolint:gosec // see above
	fmt.Fprintf(h, "%s %d\x00", kind, size)
	for _, part := range parts {
		_, _ = h.Write(part) // never fails
	}
	return h.Sum(nil)
}

// bombPack returns a pack with a commit of files that all have the size of the first one and some bytes more: all others
// are deltas of it.
func bombPack(files, size int) (pack []byte, commit string) {
	var p gittest.Pack
	first := bytes.Repeat([]byte("x"), size)
	base := p.Blob(string(first))
	tree := fmt.Appendf(nil, "100644 f%05d\x00%s", 0, gitObject("blob", size, first))
	for i := 1; i < files; i++ {
		suffix := fmt.Appendf(nil, "%08d", i)
		steps := append(varint(size), varint(size+len(suffix))...)
		for at := 0; at < size; {
			n := min(size-at, 0xffffff)
			steps = append(steps, 0xff, byte(at), byte(at>>8), byte(at>>16), byte(at>>24), byte(n), byte(n>>8), byte(n>>16))
			at += n
		}
		p.Delta(base, append(append(steps, byte(len(suffix))), suffix...))
		tree = fmt.Appendf(tree, "100644 f%05d\x00%s", i, gitObject("blob", size+len(suffix), first, suffix))
	}
	return sealedPack(&p, tree)
}

// widePack returns a pack with a commit of one directory with many names for the same file, of which the first one is
// refused, below as many directories with long names.
func widePack(names, directories int) (pack []byte, commit string) {
	var p gittest.Pack
	p.Blob("")
	empty := gitObject("blob", 0)
	tree := fmt.Appendf(nil, "100644 \n\x00%s", empty)
	for i := range names - 1 {
		tree = fmt.Appendf(tree, "100644 f%06d\x00%s", i, empty)
	}
	for range directories {
		p.Add(gittest.PackTree, len(tree), nil, tree)
		tree = fmt.Appendf(nil, "40000 %s\x00%s", strings.Repeat("d", 240), gitObject("tree", len(tree), tree))
	}
	return sealedPack(&p, tree)
}

func sealedPack(p *gittest.Pack, tree []byte) (pack []byte, id string) {
	p.Add(gittest.PackTree, len(tree), nil, tree)
	commit := fmt.Appendf(nil, "tree %x\nauthor a <a@example.com> 1700000000 +0000\ncommitter a <a@example.com> 1700000000 +0000\n\nx\n",
		gitObject("tree", len(tree), tree))
	p.Add(gittest.PackCommit, len(commit), nil, commit)
	return p.Pack(), fmt.Sprintf("%x", gitObject("commit", len(commit), commit))
}

func varint(n int) (out []byte) {
	for ; n >= 0x80; n >>= 7 {
		out = append(out, byte(n)|0x80)
	}
	return append(out, byte(n))
}

func pktLine(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

// serveGit answers for any repository, by version 2 of the protocol. Instead of a pack, nil sends progress until the
// client is gone.
func serveGit(pack []byte, commit string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		request, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		switch {
		case strings.HasSuffix(r.URL.Path, "/info/refs"):
			w.Header().Set("Content-Type", "application/x-git-upload-pack-advertisement")
			_, _ = io.WriteString(w, pktLine("# service=git-upload-pack\n")+"0000"+pktLine("version 2\n")+pktLine("ls-refs\n")+pktLine("fetch=shallow\n")+pktLine("object-format=sha1\n")+"0000")
		case !strings.HasSuffix(r.URL.Path, "/git-upload-pack"):
			http.NotFound(w, r)
		case bytes.Contains(request, []byte("command=ls-refs")):
			w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
			_, _ = io.WriteString(w, pktLine(commit+" refs/tags/v1\n")+"0000")
		default:
			w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
			_, _ = io.WriteString(w, pktLine("shallow-info\n")+pktLine("shallow "+commit)+"0001"+pktLine("packfile\n"))
			for part := range slices.Chunk(pack, 60_000) {
				_, _ = io.WriteString(w, pktLine("\x01"+string(part)))
			}
			for progress := pktLine("\x02" + strings.Repeat(".", 60_000)); pack == nil && err == nil; {
				_, err = io.WriteString(w, progress)
			}
			_, _ = io.WriteString(w, "0000")
		}
	}
}
