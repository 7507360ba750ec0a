package git_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git"
)

func FuzzParseTree(f *testing.F) {
	id := strings.Repeat("\x12", 20)
	f.Add([]byte("100644 a\x00"+id+"40000 b\x00"+id), true)
	f.Add([]byte("120000 \x00"+id), true)
	f.Add([]byte("100644 a/b\x00"+id+id[:12]), false)
	f.Fuzz(func(t *testing.T, body []byte, sha1 bool) {
		idLen := 32
		if sha1 {
			idLen = 20
		}
		entries, err := git.ParseTree("d", body, idLen)
		if err != nil {
			return
		}
		size := 0
		for _, entry := range entries {
			p := entry.Path
			name, ok := strings.CutPrefix(p, "d/")
			if !ok || name == "" || strings.ContainsAny(name, "/\x00") {
				t.Errorf("ParseTree(%q) has the path %q", body, p)
			}
			size += len(name) + idLen
		}
		if size > len(body) {
			t.Errorf("ParseTree(%s) has more entries than bytes", hex.EncodeToString(body))
		}
	})
}
