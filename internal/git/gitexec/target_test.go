package gitexec_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/testenv"
)

const address = "https://git.example.com/team/net.git"

type target struct {
	Text, URL, User string
	NamesHost       bool
}

// recipe is the form of forges, without a slash at the end.
const recipe = "[url \"https://u:t@git.example.com\"]\n\tinsteadOf = https://git.example.com\n\tinsteadOf = ssh://git@git.example.com\n\tinsteadOf = git@git.example.com\n"

// targetRows have the targets of address, or of another one.
var targetRows = map[string]struct {
	config, address string
	want            target
	refused         string
}{
	"no rule":     {config: "[url \"https://m.example/\"]\n\tinsteadOf = https://other.example/\n", want: target{Text: address, URL: address}},
	"only pushes": {config: "[url \"https://m.example/\"]\n\tpushInsteadOf = https://git.example.com/\n", want: target{Text: address, URL: address}},
	"a mirror": {
		config: "[url \"https://m.example/\"]\n\tinsteadOf = https://git.example.com/\n",
		want:   target{Text: "https://m.example/team/net.git", URL: "https://m.example/team/net.git", NamesHost: true},
	},
	"the longest prefix": {
		config: "[url \"https://a.example/\"]\n\tinsteadOf = https://git.example.com/\n[url \"https://b.example/\"]\n\tinsteadOf = https://git.example.com/team/\n[url \"https://c.example/\"]\n\tinsteadOf = https:\n",
		want:   target{Text: "https://b.example/net.git", URL: "https://b.example/net.git", NamesHost: true},
	},
	"of equal prefixes, the one whose base comes first": {
		config: "[url \"https://a.example/\"]\n\tinsteadOf = x:\n[url \"https://b.example/\"]\n\tinsteadOf = https://git.example.com/\n[url \"https://a.example/\"]\n\tinsteadOf = https://git.example.com/\n",
		want:   target{Text: "https://a.example/team/net.git", URL: "https://a.example/team/net.git", NamesHost: true},
	},
	"only once": {
		config: "[url \"https://b.example/\"]\n\tinsteadOf = https://a.example/\n[url \"https://a.example/\"]\n\tinsteadOf = https://git.example.com/\n",
		want:   target{Text: "https://a.example/team/net.git", URL: "https://a.example/team/net.git", NamesHost: true},
	},
	"ssh":                {config: "[url \"ssh://git@git.example.com/\"]\n\tinsteadOf = https://git.example.com/\n", want: target{Text: "ssh://git@git.example.com/team/net.git", URL: "ssh://git@git.example.com/team/net.git", NamesHost: true}},
	"the short form":     {config: "[url \"git@git.example.com:\"]\n\tinsteadOf = https://git.example.com/\n", want: target{Text: "git@git.example.com:team/net.git", URL: "ssh://git@git.example.com/team/net.git", NamesHost: true}},
	"an absolute path":   {config: "[url \"/srv/\"]\n\tinsteadOf = https://git.example.com/\n", want: target{Text: "file:///srv/team/net.git", URL: "file:///srv/team/net.git", NamesHost: true}},
	"a token":            {config: "[url \"https://u:t@git.example.com/\"]\n\tinsteadOf = https://git.example.com/\n", want: target{Text: address, URL: address, User: "u:t", NamesHost: true}},
	"a token for a path": {config: "[url \"https://t@git.example.com/te\"]\n\tinsteadOf = https://git.example.com/te\n", want: target{Text: address, URL: address, User: "t", NamesHost: true}},
	"a base without the whole host": {
		config: "[url \"https://t@git.example.com\"]\n\tinsteadOf = https://git.example.com/\n", address: "https://git.example.com/.evil.example/x",
		want: target{Text: "https://git.example.com.evil.example/x", URL: "https://git.example.com.evil.example/x"},
	},
	"a base without a port": {
		config: "[url \"https://t@git.example.com:80\"]\n\tinsteadOf = https://git.example.com/\n", address: "https://git.example.com/80/x",
		want: target{Text: "https://git.example.com:8080/x", URL: "https://git.example.com:8080/x"},
	},
	"the recipe of forges, without a slash": {config: recipe, want: target{Text: address, URL: address, User: "u:t", NamesHost: true}},
	"the recipe for the whole address":      {config: "[url \"https://u:t@git.example.com\"]\n\tinsteadOf = " + address + "\n", want: target{Text: "https://git.example.com", URL: "https://git.example.com", User: "u:t", NamesHost: true}},
	"the recipe for a port": {
		config: "[url \"https://u:t@git.example.com:8443\"]\n\tinsteadOf = https://git.example.com:8443\n", address: "https://git.example.com:8443/team/net.git",
		want: target{Text: "https://git.example.com:8443/team/net.git", URL: "https://git.example.com:8443/team/net.git", User: "u:t", NamesHost: true},
	},
	"the recipe for ssh": {config: recipe, address: "ssh://git@git.example.com/team/net.git", want: target{Text: address, URL: address, User: "u:t", NamesHost: true}},
	"the recipe for ssh, to another port": {
		config: recipe, address: "ssh://git@git.example.com:2222/team/net.git",
		want: target{Text: "https://git.example.com:2222/team/net.git", URL: "https://git.example.com:2222/team/net.git"},
	},
	"the recipe, to another port": {
		config: recipe, address: "https://git.example.com:8443/team/net.git",
		want: target{Text: "https://git.example.com:8443/team/net.git", URL: "https://git.example.com:8443/team/net.git"},
	},
	"the recipe, to a longer name": {
		config: recipe, address: "https://git.example.com.evil.example/x",
		want: target{Text: "https://git.example.com.evil.example/x", URL: "https://git.example.com.evil.example/x"},
	},
	"the short form without a colon": {config: "[url \"git@git.example.com\"]\n\tinsteadOf = https://git.example.com\n", refused: "neither a URL nor an absolute path"},
	"the short form of another host": {
		config: "[url \"git@git.example.com\"]\n\tinsteadOf = https://git.example.com/\n", address: "https://git.example.com/.evil.example:x",
		want: target{Text: "git@git.example.com.evil.example:x", URL: "ssh://git@git.example.com.evil.example/x"},
	},
	"only a transport": {
		config: "[url \"https:\"]\n\tinsteadOf = git:\n", address: "git://git.example.com/team/net.git",
		want: target{Text: address, URL: address},
	},
	"a user for all hosts": {
		config: "[url \"https://u:t@\"]\n\tinsteadOf = https://\n",
		want:   target{Text: address, URL: address},
	},
	"a relative path":    {config: "[url \"srv/\"]\n\tinsteadOf = https://git.example.com/\n", refused: "neither a URL nor an absolute path"},
	"a program":          {config: "[url \"ext::sh -c \"]\n\tinsteadOf = https://git.example.com/\n", refused: "neither a URL nor an absolute path"},
	"dots":               {config: "[url \"https://m.example/a/\"]\n\tinsteadOf = https://git.example.com/\n\tinsteadOf = https://git.example.com/team/\n[url \"https://m.example/acme/../\"]\n\tinsteadOf = https://git.example.com/team/n\n", refused: `the element ".."`},
	"a rule for results": {config: "[url \"https://a.example/\"]\n\tinsteadOf = https://git.example.com/\n[url \"https://b.example/\"]\n\tinsteadOf = https://a.example/team/net.git\n", refused: "another rule"},
}

// TestTarget compares the addresses that url.<base>.insteadOf results in with those of git itself.
func TestTarget(t *testing.T) {
	t.Parallel()
	for name, tt := range targetRows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.address == "" {
				tt.address = address
			}
			u, err := url.Parse(tt.address)
			if err != nil {
				t.Fatal(err)
			}
			got, err := settings(t, tt.config).Target(u)
			if tt.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refused) {
					t.Errorf("Target = %v, %v, want an error with %q", got, err, tt.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, target{got.Text(), got.URL.String(), got.User.String(), got.NamesHost}); diff != "" {
				t.Errorf("Target (-want +got):\n%s", diff)
			}
			byGit := strings.NewReplacer("//u:t@", "//", "//t@", "//").Replace(testenv.Git(t, t.TempDir(), userEnv(t, tt.config)...)("", "ls-remote", "--get-url", tt.address))
			if text := strings.TrimPrefix(got.Text(), "file://"); byGit != text {
				t.Errorf("Target = %s, git requests %s", text, byGit)
			}
		})
	}
}
