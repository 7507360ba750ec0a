package getmodules_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/git/gitexec"
)

const someCommit = "0123456789abcdef0123456789abcdef01234567"

func FuzzParseTags(f *testing.F) {
	for _, seed := range []string{
		"", someCommit + "\trefs/tags/v1.0.0\n" + someCommit + "\trefs/tags/v1.0.0^{}\n", someCommit + "\trefs/heads/main\n", "x\trefs/tags/a", someCommit + " refs/tags/a\n", someCommit + "\trefs/tags/^{}\n", "\t\t\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, listing []byte) {
		tags, err := getmodules.ParseTags(listing)
		if err != nil {
			return
		}
		if len(tags) > bytes.Count(listing, []byte("\n"))+1 {
			t.Errorf("%d tags in %q", len(tags), listing)
		}
		for _, tag := range tags {
			if !git.IsObjectID(tag.Revision) || strings.Contains(tag.Name, "\n") || !bytes.Contains(listing, []byte("refs/tags/"+tag.Name)) {
				t.Errorf("tag %+v in %q", tag, listing)
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
		id, ref, ok := getmodules.ParseFetchHead(line)
		if ok && (!git.IsObjectID(id) || !strings.HasPrefix(line, id+"\t") || ref == "") {
			t.Errorf("ParseFetchHead(%q) = %q, %q", line, id, ref)
		}
	})
}

func FuzzGitAnswer(f *testing.F) {
	for _, seed := range []string{"", someCommit + " blob 5", someCommit + " missing", someCommit + " blob -1", someCommit + " blob 9223372036854775808", "x blob 1", someCommit + "  blob 1"} {
		f.Add(seed, "blob")
	}
	f.Fuzz(func(t *testing.T, line, kind string) {
		id, size, err := getmodules.ParseGitAnswer(line, kind)
		if err == nil && (size < 0 || !strings.HasPrefix(line, fmt.Sprintf("%s %s ", id, kind))) {
			t.Errorf("ParseGitAnswer(%q, %q) = %q, %d", line, kind, id, size)
		}
	})
}

func FuzzArchiveAddress(f *testing.F) {
	for _, seed := range []string{
		"https://h.com/x.zip", "https://u:p@h.com/x?archive=zip&token=t", "https://h.com/x.tar.gz?checksum=md5:0#f", "https://h.com/x?archive=zip;a=b", "file:///x.zip", "/x.zip", "file::/x", "https://h.com/?archive=%7a%69p", "https://h.com/x?%zz=1&archive", "http:0@0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		source, err := addrs.ParseModuleSource(address)
		remote, ok := source.(addrs.ModuleSourceRemote)
		if err != nil || !ok || !slices.Contains([]string{"file", "http", "https"}, remote.Package.Getter()) {
			return
		}
		asked, resolved, err := getmodules.ArchiveAddress(remote.Package)
		if err != nil {
			return
		}
		_, query, _ := strings.Cut(asked, "?")
		for arg := range strings.SplitSeq(query, "&") {
			if name, _, _ := strings.Cut(arg, "="); name == "archive" || name == "checksum" {
				t.Errorf("%q asks for %q", address, asked)
			}
		}
		if kept := addrs.ModulePackage(resolved); kept.WithoutCredentials() != kept {
			t.Errorf("%q is kept as %q", address, resolved)
		}
	})
}
