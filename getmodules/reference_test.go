package getmodules_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/modtest"
)

func TestGitReference(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	r.annotate("annotated", first)
	r.setRef("refs/tags/both", first)
	r.setRef("refs/heads/both", second)
	r.setRef("refs/pull/1/head", first)
	for ref, want := range map[string]getmodules.Reference{
		"":                                {Kind: getmodules.ReferenceHead, Name: "HEAD", Revision: second},
		"?ref=main":                       {Kind: getmodules.ReferenceBranch, Name: "main", Revision: second},
		"?ref=annotated":                  {Kind: getmodules.ReferenceTag, Name: "annotated", Revision: first},
		"?ref=both":                       {Kind: getmodules.ReferenceTag, Name: "both", Revision: first},
		"?ref=refs%2Fheads%2Fboth":        {Kind: getmodules.ReferenceBranch, Name: "both", Revision: second},
		"?ref=heads/both":                 {Kind: getmodules.ReferenceBranch, Name: "both", Revision: second},
		"?ref=refs/pull/1/head":           {Kind: getmodules.ReferenceOther, Name: "refs/pull/1/head", Revision: first},
		"?ref=" + first:                   {Kind: getmodules.ReferenceCommit, Name: first, Revision: first},
		"?ref=refs/tags/annotated":        {Kind: getmodules.ReferenceTag, Name: "annotated", Revision: first},
		"?ref=gone":                       {},
		"?ref=refs/tags/main":             {},
		"?ref=" + strings.Repeat("c", 40): {Kind: getmodules.ReferenceCommit, Name: strings.Repeat("c", 40), Revision: strings.Repeat("c", 40)},
	} {
		for client, fetcher := range gitClients {
			address := s.local(client, r, strings.TrimPrefix(ref, "?"))
			got, err := fetcher(t).Reference(t.Context(), getmodules.Request{Package: address})
			if got != want {
				t.Errorf("Reference(%q) by %s = %v, %v; want %v", ref, client, got, err, want)
			}
			if found := err == nil; found != (want.Revision != "") || !found && !errors.Is(err, getmodules.ErrRefNotFound) {
				t.Errorf("Reference(%q) by %s = %v", ref, client, err)
			}
		}
	}
}

// TestShortReference resolves abbreviated commits. An abbreviation of the expected commit
// needs no request for the history; any other is looked up in the history. A ref with the
// same name takes precedence.
func TestShortReference(t *testing.T) {
	t.Parallel()
	s := newGitServer(t)
	r, first, second := gitMainTF(t, s)
	r.setRef("refs/heads/"+second[:9], first)
	other := strings.Repeat("c", 40)
	for _, test := range []struct{ name, short, expected, want, by string }{
		{"expected", first[:8], first, first, "commit"},
		{"in capitals", strings.ToUpper(first[:8]), first, first, "commit"},
		{"not expected", first[:8], "", first, "commit"},
		{"another is expected", first[:8], other, first, "commit"},
		{"a branch", second[:9], second, first, "branch"},
		{"of no commit", other[:8], first, "", ""},
	} {
		for client, f := range map[string]*getmodules.Fetcher{"git": newGitFetcher(t), "built-in": newBuiltInFetcher(t)} {
			t.Run(test.name+" by "+client, func(t *testing.T) {
				t.Parallel()
				req := getmodules.Request{Package: s.address(r, "ref="+test.short), Revision: test.expected}
				got, err := f.Reference(t.Context(), req)
				if client == "built-in" && test.name != "expected" && test.name != "in capitals" && test.by != "branch" {
					if !errors.Is(err, getmodules.ErrBuiltInGit) {
						t.Errorf("without git: %v, %v, want ErrBuiltInGit", got, err)
					}
					return
				}
				if got.Revision != test.want || string(got.Kind) != test.by {
					t.Errorf("Reference = %v, %v; want %s %s", got, err, test.by, test.want)
				}
				if test.want == "" && !errors.Is(err, getmodules.ErrRefNotFound) {
					t.Errorf("Reference = %v, want ErrRefNotFound", err)
				}
			})
		}
	}
}

func TestOCIReference(t *testing.T) {
	t.Parallel()
	world := modtest.NewWith(t, fstest.MapFS{"oci/net/1.0.0/main.tf": {}}, modtest.Options{})
	digest := ociDigest(t, world, "net", "1.0.0")
	f := newOCIFetcher(world)
	for query, want := range map[string]getmodules.Reference{
		"?tag=1.0.0":        {Kind: getmodules.ReferenceTag, Name: "1.0.0", Revision: digest},
		"?digest=" + digest: {Kind: getmodules.ReferenceDigest, Name: digest, Revision: digest},
		"":                  {},
	} {
		got, err := f.Reference(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage(world.OCISource("net", query))})
		if got.Revision != want.Revision || want.Revision != "" && got != want {
			t.Errorf("Reference(%q) = %v, %v; want %v", query, got, err, want)
		}
		if query == "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Reference of a tag that is not there = %v, want ErrNotExist", err)
		}
	}
}

func TestReferenceString(t *testing.T) {
	t.Parallel()
	for want, reference := range map[string]getmodules.Reference{
		"":                 {},
		"HEAD":             {Kind: getmodules.ReferenceHead, Name: "HEAD"},
		"tag v1":           {Kind: getmodules.ReferenceTag, Name: "v1"},
		"branch feat/x":    {Kind: getmodules.ReferenceBranch, Name: "feat/x"},
		"refs/pull/1/head": {Kind: getmodules.ReferenceOther, Name: "refs/pull/1/head"},
		"digest sha256:0":  {Kind: getmodules.ReferenceDigest, Name: "sha256:0"},
	} {
		if got := reference.String(); got != want {
			t.Errorf("String of %+v = %q, want %q", reference, got, want)
		}
	}
}

func TestNoReference(t *testing.T) {
	t.Parallel()
	got, err := (&getmodules.Fetcher{}).Reference(t.Context(), getmodules.Request{Package: addrs.ParseModulePackage("https://example.com/net.zip")})
	if err != nil || got != (getmodules.Reference{}) {
		t.Errorf("Reference of an archive = %v, %v", got, err)
	}
}
