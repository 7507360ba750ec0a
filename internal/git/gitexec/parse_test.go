package gitexec_test

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitexec"
)

const someCommit = "0123456789abcdef0123456789abcdef01234567"

func TestParseFetchHead(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("1", 40)
	tests := []struct {
		line, ref string
		ok        bool
	}{
		{id + "\t\ttag 'v1' of https://h/n", "refs/tags/v1", true},
		{id + "\t\tbranch 'it's' of https://h/n", "refs/heads/it's", true},
		{id + "\tnot-for-merge\tbranch 'a' of h:n", "refs/heads/a", true},
		{id + "\t\t'refs/pull/1/head' of https://h/n", "refs/pull/1/head", true},
		{id + "\t\thttps://h/n", "HEAD", true},
		{id + "\t\tremote-tracking branch 'o/a' of https://h/n", "refs/remotes/o/a", true},
		{"main\t\thttps://h/n", "", false},
		{id + "\t\t'' of https://h/n", "", false},
		{id + "\t\ttag '' of https://h/n", "", false},
		{id, "", false},
		{"", "", false},
	}
	for _, tt := range tests {
		if _, ref, ok := gitexec.ParseFetchHead(tt.line); ref != tt.ref || ok != tt.ok {
			t.Errorf("ParseFetchHead(%q) = %q, %v, want %q, %v", tt.line, ref, ok, tt.ref, tt.ok)
		}
	}
}

func FuzzParseListing(f *testing.F) {
	for _, seed := range []string{
		"", someCommit + "\trefs/tags/v1.0.0\n" + someCommit + "\trefs/tags/v1.0.0^{}\n", someCommit + "\trefs/heads/main\n", "x\trefs/tags/a", someCommit + " refs/tags/a\n", someCommit + "\trefs/tags/^{}\n", "\t\t\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, listing []byte) {
		refs := gitexec.ParseListing(listing)
		if len(refs) > bytes.Count(listing, []byte("\n"))+1 {
			t.Errorf("%d refs in %q", len(refs), listing)
		}
		for name, ref := range refs {
			if !git.IsObjectID(ref.ID) || !git.IsObjectID(ref.Commit) || strings.Contains(name, "\n") || !bytes.Contains(listing, []byte(name)) {
				t.Errorf("ref %q %+v in %q", name, ref, listing)
			}
		}
	})
}

func FuzzParseFetchHead(f *testing.F) {
	for _, seed := range []string{
		"", someCommit + "\t\ttag 'v1' of https://h/x", someCommit + "\t\thttps://h/x", someCommit + "\tnot-for-merge\tbranch 'a' of b' of c", someCommit + "\t\t'refs/x' of y", someCommit + "\t\ttag '", "x\t\ty",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		id, ref, ok := gitexec.ParseFetchHead(line)
		if ok && (!git.IsObjectID(id) || !strings.HasPrefix(line, id+"\t") || ref == "") {
			t.Errorf("ParseFetchHead(%q) = %q, %q", line, id, ref)
		}
	})
}

func FuzzParseAnswer(f *testing.F) {
	for _, seed := range []string{"", someCommit + " blob 5", someCommit + " missing", someCommit + " blob -1", someCommit + " blob 9223372036854775808", "x blob 1", someCommit + "  blob 1"} {
		f.Add(seed, "blob")
	}
	f.Fuzz(func(t *testing.T, line, kind string) {
		id, size, err := gitexec.ParseAnswer(line, git.Kind(kind))
		if err == nil && (size < 0 || !strings.HasPrefix(line, fmt.Sprintf("%s %s ", id, kind))) {
			t.Errorf("ParseAnswer(%q, %q) = %q, %d", line, kind, id, size)
		}
	})
}

func FuzzCheckURL(f *testing.F) {
	for _, seed := range []string{"https://h/x", "https://-x/y", "ssh://-o@h/x", "file:///x", "https:///x", "https://h/-x", "https://h/x%0ay", "https:h", "ext::sh"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := url.Parse(raw)
		if err != nil || git.CheckURL(u, []string{"https", "ssh"}) != nil {
			return
		}
		text := u.String()
		if u.Host == "" || strings.HasPrefix(text, "-") || strings.HasPrefix(u.Host, "-") || strings.Contains(text, "::") && !strings.Contains(text, "://") {
			t.Errorf("CheckURL(%q) = nil, of %q", raw, text)
		}
		if strings.ContainsFunc(u.Path+u.Host, func(r rune) bool { return r < ' ' }) {
			t.Errorf("CheckURL(%q) = nil, with control characters", raw)
		}
	})
}
