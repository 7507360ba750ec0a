package git_test

import (
	"bufio"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git"
)

func TestObjectLimit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int64]error{5: nil, 4: git.ErrTooLarge} {
		object := git.CheckedObject(strings.Repeat("1", 40), bufio.NewReader(strings.NewReader("bytes")), 5)
		if content, err := object.Bytes(limit); !errors.Is(err, want) || err == nil && string(content) != "bytes" {
			t.Errorf("Bytes(%d) = %q, %v", limit, content, err)
		}
	}
}

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
