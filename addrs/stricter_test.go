package addrs_test

import (
	"runtime"
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

// TestStricter has the differences from the stock tools that the package comment lists,
// including edge cases.
func TestStricter(t *testing.T) {
	t.Parallel()
	tests := []struct{ input, want string }{
		{"acme/net/aws//a/../..", outside},
		{"acme/net/aws//...", acme + "//..."},
		{"acme/net/aws//..x", acme + "//..x"},
		{`acme/net/aws//..\x`, acme + `//..\x`},
		{"reg.example.com/acme/net/aws//..", outside},
		{"foo.amazonaws.com/a/b/c//..", outside}, // neither a registry address nor S3
		{"https://h.com/n//..?ref=x", outside},
		{"https://h.com/n//a/..//..", outside},
		{"github.com/acme/net/..", outside},
		{"github.com/acme/net/..//a", outside},
		// The detected subdirectory has as many elements as there are "..", so the path stays
		// inside the package.
		{"github.com/acme/net/a/b//..", github + " ; a"},
		{"github.com/acme/net/a///b", github + " ; a/b"},

		{"reg.example.com:-0/acme/net/aws", "R reg.example.com:0/acme/net/aws"},
		{"reg.example.com:-443/acme/net/aws", "error"},
		{"reg.ex\xffample.com/acme/net/aws", "error"},
		{"reg。.example.com/acme/net/aws", "error"},
		{"\u00ad./acme/net/aws", "error"}, // otherwise it would be the Source of a local module
		{"reg。example.com/acme/net/aws", reg},
		{"reg.example.com../acme/net/aws", "R reg.example.com../acme/net/aws"},

		{"bitbucket.org/acme/net", "P git::https://bitbucket.org/acme/net.git"},
		{"bitbucket.org/acme/net.git", "P git::https://bitbucket.org/acme/net.git"},
		{"bitbucket.org/acme/net/", "P git::https://bitbucket.org/acme/net.git"},
		{"bitbucket.org/acme/net/sub//dir?ref=a/b", "P git::https://bitbucket.org/acme/net.git?ref=a/b ; sub/dir"},
		{"git::bitbucket.org/acme/net", "P git::https://bitbucket.org/acme/net.git"},
		{"hg::bitbucket.org/acme/net", "P hg::https://bitbucket.org/acme/net.git"},
		{"bitbucket.org/acme", "error"},
		{"bitbucket.org/", "error"},
		{"bitbucket.org/acme/", "error"},
		{"bitbucket.org/acme/?ref=x", "error"},
		{"bitbucket.org/a%zz/b", "error"},
		{"BitBucket.org/acme/net/aws", hint},
		{"bitbucket.org:443/acme/net/aws", "P bitbucket.org:443/acme/net/aws"},
	}
	for _, test := range tests {
		src, err := addrs.ParseModuleSource(test.input)
		if got := describe(src, err); got != test.want {
			t.Errorf("ParseModuleSource(%q) = %s, want %s", test.input, got, test.want)
		}
	}
}

// The files in testdata cannot contain these control characters.
func TestControlCharacters(t *testing.T) {
	t.Parallel()
	tests := []struct{ input, want string }{
		{"acme/net/aws\n", hint},
		{"acme\t/net/aws", hint},
		{"./a\nb", "L ./a\nb"},
		{"https://h.com/n\n", hint},
		{"https://h.com/n\x00", hint},
		{"https://h.com/n//a\tb", "P https://h.com/n ; a\tb"},
		{"git::https://h.com/n//a\nb", "P git::https://h.com/n ; a\nb"},
		{"github.com/acme/n\tt", "error"},
		{"github.com/acme/net/a\tb", github + " ; a%2509b"}, // escaped twice

		{"github.com/acme/net?ref=a\nb", github + "?ref=a\nb"}, // the query is not checked
		{"git@h.com:acme/n\n.git", hint},
		{"git@h\n.com:acme/n.git", "P git::ssh://git@h%0A.com/acme/n.git"},
	}
	for _, test := range tests {
		src, err := addrs.ParseModuleSource(test.input)
		if got := describe(src, err); got != test.want {
			t.Errorf("ParseModuleSource(%q) = %s, want %s", test.input, got, test.want)
		}
	}
}

func TestControlCharactersInPaths(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("absolute paths begin with a slash here")
	}
	tests := []struct{ input, want string }{
		{"/a\tb", "P file:///a\tb"},
		{"/a\x00b//c", "P file:///a\x00b ; c"},
		{"git::/a\nb", hint},
	}
	for _, test := range tests {
		src, err := addrs.ParseModuleSource(test.input)
		if got := describe(src, err); got != test.want {
			t.Errorf("ParseModuleSource(%q) = %s, want %s", test.input, got, test.want)
		}
	}
}
