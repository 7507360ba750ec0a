package versions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
