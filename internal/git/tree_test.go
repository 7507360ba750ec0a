package git_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/testenv"
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
		entries, _, err := git.ParseTree("d", body, idLen, 100, 1<<20)
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

// trees are objects by their names.
type trees map[string]string

func (o trees) Commit(string) (*git.Object, error) { return nil, git.ErrDamaged }
func (o trees) Complete() error                    { return nil }
func (o trees) Finish() error                      { return nil }

func (o trees) Read(_ git.Kind, ids []string) iter.Seq2[*git.Object, error] {
	return func(yield func(*git.Object, error) bool) {
		for _, id := range ids {
			if !yield(git.CheckedObject(id, bufio.NewReader(strings.NewReader(o[id])), int64(len(o[id]))), nil) {
				return
			}
		}
	}
}

func treeOf(entries int) string {
	var b strings.Builder
	for i := range entries {
		fmt.Fprintf(&b, "100644 %06d\x00%s", i, strings.Repeat("\x12", 20))
	}
	return b.String()
}

// Of packages with many entries, one is listed at a time, and a small one waits for none.
func TestLargeTrees(t *testing.T) {
	t.Parallel()
	const most = 50_000
	large, small, over := strings.Repeat("a", 40), strings.Repeat("b", 40), strings.Repeat("c", 40)
	objects := trees{large: treeOf(most), small: treeOf(20_000), over: treeOf(most + 2)}
	first, err := git.ReadTree(t.Context(), objects, large, most)
	testenv.Must(t, err)
	if len(first.Entries) != most {
		t.Errorf("ReadTree returns %d entries, want %d", len(first.Entries), most)
	}
	other, err := git.ReadTree(t.Context(), objects, small, most)
	testenv.Must(t, err)
	other.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := git.ReadTree(ended, objects, large, most); !errors.Is(err, context.Canceled) {
		t.Errorf("ReadTree of a second large tree = %v, want that it waits until the context is done", err)
	}
	first.Close()
	_, err = git.ReadTree(t.Context(), objects, over, most)
	if limit, ok := errors.AsType[*packagelimits.Error](err); !ok || limit.Limit != packagelimits.OfEntries {
		t.Errorf("ReadTree of more than the limit = %v, want an error about it", err)
	}
	below := large
	for range 12 { // 50,000 paths of 3 kB
		id := fmt.Sprintf("%040x", len(objects))
		raw, err := hex.DecodeString(below)
		testenv.Must(t, err)
		objects[id], below = "40000 "+strings.Repeat("d", 250)+"\x00"+string(raw), id
	}
	_, err = git.ReadTree(t.Context(), objects, below, most)
	if limit, ok := errors.AsType[*packagelimits.Error](err); !ok || limit.Limit != packagelimits.OfPaths {
		t.Errorf("ReadTree of long paths = %v, want an error about their limit", err)
	}
	again, err := git.ReadTree(t.Context(), objects, large, most) // no error has kept the share
	testenv.Must(t, err)
	again.Close()
}

func TestParseTreeStops(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ most, mostBytes, want int }{{10, 1 << 20, 11}, {100, 10 * len("dir/000000"), 11}} {
		entries, bytes, err := git.ParseTree("dir", []byte(treeOf(100)+"malformed"), 20, tt.most, tt.mostBytes)
		if err != nil || len(entries) != tt.want || bytes != tt.want*len("dir/000000") {
			t.Errorf("ParseTree(%d, %d) returns %d entries of %d bytes, %v; want one more than allowed", tt.most, tt.mostBytes, len(entries), bytes, err)
		}
	}
}
