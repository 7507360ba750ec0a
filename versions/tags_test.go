package versions_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/versions"
)

func tags(names ...string) []versions.GitTag {
	var list []versions.GitTag
	for i, name := range names {
		list = append(list, versions.GitTag{Name: name, Revision: fmt.Sprintf("%040x", i)})
	}
	return list
}

func TestFromGitTags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, subdir, tags, want string
	}{
		{"strict versions only", "", "v1.2.0 1.3.0 v1 1.2 release-1.0.0 V1.0.0 1.2.3.4 01.2.3 v1.0.0-01 latest", "v1.2.0=1.2.0 1.3.0=1.3.0"},
		{"pre-releases and metadata", "", "v1.0.0-rc.1 v1.0.0+b.1", "v1.0.0-rc.1=1.0.0-rc.1 v1.0.0+b.1=1.0.0+b.1"},
		{"two spellings", "", "1.2.0 v1.2.0", "1.2.0=1.2.0 v1.2.0=1.2.0"},
		{"prefixes mean nothing at the root", "", "network/v1.2.0 v0.1.0", "v0.1.0=0.1.0"},
		{"by the directory's name", "modules/network", "network/v1.2.0 network-1.3.0 dns/v9.0.0 v5.0.0", "network/v1.2.0=1.2.0 network-1.3.0=1.3.0"},
		{"by the whole directory", "modules/network", "modules/network/v1.2.0 modules/network-v1.4.0", "modules/network/v1.2.0=1.2.0 modules/network-v1.4.0=1.4.0"},
		{"plain tags where there are no others", "modules/network", "dns/v9.0.0 v5.0.0", "v5.0.0=5.0.0"},
		{"a name that begins with another", "net", "network-v1.0.0 net-v2.0.0", "net-v2.0.0=2.0.0"},
		{"numbers beyond all measure", "", "v99999999999999999999999.0.0", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range versions.FromGitTags(tags(strings.Fields(test.tags)...), test.subdir) {
				got = append(got, c.Ref+"="+c.Version.String())
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("FromGitTags(%s, %q) (-want +got):\n%s", test.tags, test.subdir, diff)
			}
		})
	}
}

func FuzzFromGitTags(f *testing.F) {
	f.Add("v1.2.0", "")
	f.Add("network/v1.2.0-rc.1+b", "modules/network")
	f.Add("a-1.0.0", "../a")
	f.Fuzz(func(t *testing.T, name, subdir string) {
		for _, c := range versions.FromGitTags(tags(name), subdir) {
			if c.Ref != name || c.Version.IsZero() {
				t.Errorf("FromGitTags(%q, %q) = %+v", name, subdir, c)
			}
			if again, err := versions.Parse(c.Version.String()); err != nil || again != c.Version {
				t.Errorf("the version %q of %q does not parse to itself: %q, %v", c.Version, name, again, err)
			}
		}
	})
}

// pages is a repository with fixed pages of tags. After the last page, it fails with err.
type pages struct {
	tags [][]string
	err  error
}

func (p pages) Tags(_ context.Context, _ string, page func([]string) error) error {
	for _, tags := range p.tags {
		if err := page(tags); err != nil {
			return fmt.Errorf("page: %w", err)
		}
	}
	return p.err
}

func listed(candidates []versions.Candidate) string {
	var all []string
	for _, c := range candidates {
		all = append(all, c.Ref+"="+c.Version.String()+c.Revision)
	}
	return strings.Join(all, " ")
}

func TestFromOCITags(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, tags, want string }{
		{"versions only", "latest v1.2.0 1.3.0 v1 1.2 V1.0.0 1.2.3.4 01.2.3 release-1.0.0", "v1.2.0=1.2.0 1.3.0=1.3.0"},
		{"pre-releases", "1.0.0-rc.1 v1.0.0-0", "1.0.0-rc.1=1.0.0-rc.1 v1.0.0-0=1.0.0-0"},
		{"metadata", "1.0.0_b.1 1.0.0-rc.1_x 1.0.0_a_b 1.0.0_ 1.0.0-a_b.c-d", "1.0.0_b.1=1.0.0+b.1 1.0.0-rc.1_x=1.0.0-rc.1+x 1.0.0-a_b.c-d=1.0.0-a+b.c-d"},
		{"no plus in tags", "1.0.0+b 2.0.0", "2.0.0=2.0.0"},
		{"two spellings", "v1.2.0 1.2.0", "v1.2.0=1.2.0 1.2.0=1.2.0"},
		{"beyond all measure", "v99999999999999999999999.0.0 1.0.0-" + strings.Repeat("a", 200), ""},
	}
	for _, test := range tests {
		var list [][]string
		for _, tag := range strings.Fields(test.tags) {
			list = append(list, []string{tag}) // one page for each tag
		}
		got, err := versions.FromOCITags(t.Context(), pages{tags: list})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, listed(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func numbered(from, count int) []string {
	var tags []string
	for i := range count {
		tags = append(tags, fmt.Sprintf("1.0.%d", from+i))
	}
	return tags
}

func TestFromOCITagsBounds(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	tests := []struct {
		name  string
		pages pages
		want  error
	}{
		{"100,000 tags", pages{tags: [][]string{numbered(0, 100_000)}}, nil},
		{"100,001 tags", pages{tags: [][]string{numbered(0, 100_000), {"2.0.0"}}}, versions.ErrTooManyTags},
		{"1,000 pages, some empty", pages{tags: append(slices.Repeat([][]string{{}}, 999), []string{"1.0.0"})}, nil},
		{"1,001 pages", pages{tags: slices.Repeat([][]string{nil}, 1_001)}, versions.ErrTooManyTags},
		{"the same page", pages{tags: [][]string{{"a", "b"}, {"a", "b"}}}, versions.ErrRepeatedPage},
		{"an earlier page", pages{tags: [][]string{{"a"}, {"b"}, {"a"}}}, versions.ErrRepeatedPage},
		{"pages that overlap", pages{tags: [][]string{{"a", "b"}, {"b", "c"}}}, nil},
		{"a failure", pages{tags: [][]string{{"1.0.0"}}, err: broken}, broken},
	}
	for _, test := range tests {
		got, err := versions.FromOCITags(t.Context(), test.pages)
		var list *versions.OCITagsError
		if !errors.Is(err, test.want) || err != nil && (!errors.As(err, &list) || got != nil) {
			t.Errorf("%s: List = %d candidates, %v, want %v", test.name, len(got), err, test.want)
		}
	}
}

// TestSameVersion checks the package comment's advice for versions with several tags.
func TestSameVersion(t *testing.T) {
	t.Parallel()
	offered, err := versions.FromOCITags(t.Context(), pages{tags: [][]string{{"1.1.0", "v1.2.0", "1.2.0"}}})
	testenv.Must(t, err)
	selected, err := versions.Select(offered, versions.Constraints{})
	if err != nil || selected.Ref != "1.2.0" {
		t.Fatalf("Select = %+v, %v, want the tag 1.2.0", selected, err)
	}
	same := versions.SameVersion(offered, selected)
	if got, want := listed(same), "v1.2.0=1.2.0 1.2.0=1.2.0"; got != want {
		t.Fatalf("Same = %s, want %s", got, want)
	}
	for i := range same {
		same[i].Revision = fmt.Sprintf("sha256:%064d", i)
	}
	var ambiguous *versions.AmbiguousVersionError
	if _, err := versions.Select(same, versions.Constraints{}); !errors.As(err, &ambiguous) {
		t.Errorf("Select of different digests = %v, want an AmbiguousVersionError", err)
	}
}

func FuzzFromOCITags(f *testing.F) {
	f.Add("v1.2.0")
	f.Add("1.2.0-rc.1_b.2")
	f.Add("1.0.0_a_b")
	f.Fuzz(func(t *testing.T, tag string) {
		found, err := versions.FromOCITags(t.Context(), &pages{tags: [][]string{{tag}}})
		if err != nil || len(found) == 0 {
			return
		}
		v := found[0].Version
		if v.IsZero() || found[0].Ref != tag {
			t.Errorf("the tag %q is %+v", tag, found[0])
		}
		if again, err := versions.Parse(v.String()); err != nil || again != v {
			t.Errorf("the version %q of %q does not parse to itself: %q, %v", v, tag, again, err)
		}
	})
}
