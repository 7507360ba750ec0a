package inprocess_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/inprocess"
)

func list(t testing.TB, refs string) (*inprocess.Listing, error) {
	t.Helper()
	r := &inprocess.Remote{Transport: fakeServer{refs: []byte(refs)}}
	return r.List(t.Context())
}

func TestList(t *testing.T) {
	t.Parallel()
	other, tag := strings.Repeat("2", 40), strings.Repeat("3", 40)
	text := line("# service=git-upload-pack\n") + "0000" +
		line(someID+" HEAD\x00multi_ack allow-tip-sha1-in-want allow-reachable-sha1-in-want symref=HEAD:refs/heads/main\n") +
		line(someID+" refs/heads/main\n") + line(tag+" refs/tags/v1\n") + line(other+" refs/tags/v1^{}\n") + line(other+" refs/heads/a\n") + "0000"
	got, err := list(t, text)
	if err != nil {
		t.Fatal(err)
	}
	want := &inprocess.Listing{
		AnyCommit: true,
		Refs: git.Refs{
			"HEAD":            {ID: someID, Commit: someID},
			"refs/heads/a":    {ID: other, Commit: other},
			"refs/heads/main": {ID: someID, Commit: someID},
			"refs/tags/v1":    {ID: tag, Commit: other},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
}

func TestListFailures(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	tests := []struct {
		name, text string
		kind       inprocess.Kind
	}{
		{"an error", line("ERR access denied\x1b[2J"), inprocess.Refused},
		{"nothing", "", inprocess.Broken},
		{"a page", "<html>", inprocess.Broken},
		{"no name", line("x\n"), inprocess.Broken},
		{"SHA-256", line(long+" HEAD\x00object-format=sha256 agent=x\n") + "0000", inprocess.Unsupported},
		{"an empty SHA-256 repository", line(strings.Repeat("0", 64)+" capabilities^{}\x00object-format=sha256\n") + "0000", inprocess.Unsupported},
		{"half of it", line(someID+" HEAD\x00x\n") + line(someID + " refs/heads/main\n")[:20], inprocess.Broken},
		{"too much", line(someID+" HEAD\x00x\n") + strings.Repeat(line(someID+" refs/heads/"+strings.Repeat("a", 60000)), 1200), inprocess.TooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := list(t, tt.text)
			var failed *inprocess.Error
			if err == nil || errors.As(err, &failed) && failed.Kind != tt.kind || failed == nil && tt.kind != inprocess.Broken {
				t.Fatalf("List = %v, want the kind %d", err, tt.kind)
			}
			if strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Errorf("List = %q, which a terminal obeys", err)
			}
		})
	}
	if l, err := list(t, line(strings.Repeat("0", 40)+" capabilities^{}\x00agent=x\n")+"0000"); err != nil || l.Refs[git.Head].ID != "" || len(l.Refs) > 0 {
		t.Errorf("List of an empty repository = %+v, %v", l, err)
	}
	if l, err := list(t, line("# service=git-upload-pack\n")+"00000000"); err != nil || len(l.Refs) > 0 {
		t.Errorf("List of an empty repository by an old server = %+v, %v", l, err)
	}
}

func FuzzList(f *testing.F) {
	f.Add(string(someRefs()))
	f.Add(line("# service=git-upload-pack\n") + "0000" + string(someRefs()))
	f.Add(line(someID+" HEAD\x00shallow\n") + line("shallow "+someID) + "0000")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := list(t, text)
		if err != nil {
			return
		}
		for _, r := range l.Refs {
			if len(r.ID) != 40 || len(r.Commit) != 40 {
				t.Errorf("List(%q) has %+v", text, r)
			}
		}
	})
}
