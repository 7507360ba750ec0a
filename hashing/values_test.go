package hashing_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/hashing"
)

func TestValues(t *testing.T) {
	t.Parallel()
	type document struct {
		Hash  hashing.Hash
		None  hashing.Hash
		Kinds []hashing.Kind
		Trees map[hashing.Hash]*hashing.Tree
	}
	tree := readTree(t, fstest.MapFS{"main.tf": file("a"), "run.sh": executable(""), "link": link("main.tf"), "empty": emptyDir()})
	given := document{tree.H1(), "", []hashing.Kind{0, hashing.File, hashing.ExecFile, hashing.Link, hashing.EmptyDir}, map[hashing.Hash]*hashing.Tree{tree.T1(): tree}}
	text, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	if want := `"Kinds":["","file","executable file","link","empty directory"]`; !strings.Contains(string(text), want) || !strings.Contains(string(text), `"None":""`) {
		t.Errorf("%s does not contain %s", text, want)
	}
	var got document
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(given, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{`{"Hash":"h1:x"}`, `{"Kinds":["unknown kind"]}`, `{"Kinds":["f"]}`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	if got.Hash != given.Hash {
		t.Errorf("a malformed hash replaced the value by %q", got.Hash)
	}
	if _, err := hashing.Kind('?').MarshalText(); err == nil {
		t.Error("an unknown kind has a text")
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "hash", tree.H1(), "kind", hashing.Link, "tree", tree, "none", (*hashing.Tree)(nil))
	if want := "hash=" + string(tree.H1()) + " kind=link tree.entries=4 tree.h1=" + string(tree.H1()) + "\n"; !strings.HasSuffix(strings.ReplaceAll(log.String(), `"`, ""), want) {
		t.Errorf("the log is %q, want %q at its end", log.String(), want)
	}
}
