package addrs_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

// describe returns a result as one line: the kind, the Source string as in modules.json, and for
// a remote source also the package and the subdirectory.
func describe(src addrs.ModuleSource, err error) string {
	var parseError *addrs.ParseError
	switch {
	case errors.Is(err, addrs.ErrOutsidePackage):
		return "error: outside"
	case errors.As(err, &parseError) && parseError.MaybeLocal:
		return "error: maybe local"
	case err != nil:
		return "error"
	}
	switch src := src.(type) {
	case addrs.ModuleSourceLocal:
		return "L " + src.String()
	case addrs.ModuleSourceRegistry:
		return "R " + src.String()
	case addrs.ModuleSourceRemote:
		if src.Subdir == "" {
			return "P " + src.Package.String()
		}
		return "P " + src.Package.String() + " ; " + src.Subdir
	}
	return "nothing"
}

// TestStockSources has the inputs of a table that was made by running the stock parser, in the
// same order. In rows with the comment "stricter", this package differs intentionally.
func TestStockSources(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the table is that of a system where absolute paths begin with a slash")
	}
	for _, tables := range [][]sourceCase{localCases, registryCases, hostCases, forgeCases, urlCases, bucketCases} {
		for _, test := range tables {
			src, err := addrs.ParseModuleSource(test.input)
			if got := describe(src, err); got != test.want {
				t.Errorf("ParseModuleSource(%q) = %s, want %s (row %d)", test.input, got, test.want, test.row)
			}
			if err != nil && src != nil {
				t.Errorf("ParseModuleSource(%q) returns %#v beside an error", test.input, src)
			}
		}
	}
}

// TestStockSourcesComplete checks that no row of the table is missing.
func TestStockSourcesComplete(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for _, tables := range [][]sourceCase{localCases, registryCases, hostCases, forgeCases, urlCases, bucketCases} {
		for _, test := range tables {
			seen[test.row] = true
		}
	}
	for row := 1; row <= 120; row++ {
		if !seen[row] {
			t.Errorf("row %d has no case", row)
		}
	}
}

type sourceCase struct {
	row   int
	input string
	want  string
}

const (
	hint    = "error: maybe local"
	outside = "error: outside"
	// Prefixes of the Source strings of registry addresses.
	acme = "R registry.opentofu.org/acme/net/aws"
	reg  = "R reg.example.com/acme/net/aws"
)

var long64 = strings.Repeat("a", 64)

var localCases = []sourceCase{
	{1, "./mods/net", "L ./mods/net"},
	{2, "./", "L ./."},
	{3, "../", "L ./.."},
	{4, "./..", "L ./.."},
	{5, "../../", "L ../.."},
	{6, ".", hint},
	{7, "..", hint},
	{8, "./a//b", "L ./a/b"},
	{9, "./a/../../x/", "L ../x"},
	{10, `.\win\net`, "L ./win/net"},
	{11, `..\win\..\y`, "L ../y"},
	{12, "./a?ref=x", "L ./a?ref=x"},
	{13, "/abs/dir", "P file:///abs/dir"},
	{14, "/abs/dir/", "P file:///abs/dir/"},
	{15, "/abs/dir//inner", "P file:///abs/dir ; inner"},
	{16, "/abs/dir?x=y", "P file:///abs/dir?x=y"},
	{17, "/a//..", outside}, // stricter
	{18, "///x", "error"},
	{19, "~/mods/net", hint},
	{20, "mods/net", hint},
	{20, "mods", hint},
}

var registryCases = []sourceCase{
	{21, "acme/net/aws", acme},
	{22, "acme/net/aws//modules/a/", acme + "//modules/a"},
	{23, "acme/net/aws//./modules/../m", acme + "//m"},
	{24, "acme/net/aws//../up", outside},
	{25, "acme/net/aws//..", outside}, // stricter
	{26, "acme/net/aws//m/..", acme + "//."},
	{27, "acme/net/aws///m", "R registry.opentofu.org/acme/net/aws///m"},
	{28, "acme/net/aws//m//n", acme + "//m/n"},
	{29, "acme/net/aws//*", acme + "//*"},
	{30, "acme/net/aws//", acme},
	{31, "acme/net/aws/", hint},
	{32, "acme/net/AWS", hint},
	{32, "acme/net/c-d", hint},
	{33, "acme/net/aws?x=1", hint},
	{33, "acme/net/aws//s?x=1", hint},
	{34, "Acme/Net_x/aws", "R registry.opentofu.org/Acme/Net_x/aws"},
	{35, "-acme/net/aws", hint},
	{35, "acme_/net/aws", hint},
	{35, "_a/b/c", hint},
	{35, "a/b./c", hint},
	{36, long64 + "/net/aws", "R registry.opentofu.org/" + long64 + "/net/aws"},
	{36, "acme/net/" + long64, "R registry.opentofu.org/acme/net/" + long64},
	{36, long64 + "a/net/aws", hint},
	{36, "acme/net/a" + long64, hint},
	{37, " acme/net/aws", hint},
	{37, "acme/net/aws ", hint},
	{38, "acme//net/aws", hint},
	{39, "a/b/c/d", hint},
	{39, "a/b/c/d/e", hint},
}

var hostCases = []sourceCase{
	{40, "Reg.EXAMPLE.com/acme/net/aws", reg},
	{41, "reg.example.com:8443/acme/net/aws//m", "R reg.example.com:8443/acme/net/aws//m"},
	{42, "reg.example.com:443/acme/net/aws", reg},
	{43, "reg.example.com:70000/a/b/c", "P reg.example.com:70000/a/b/c"},
	{44, "reg.example.com:-1/a/b/c", "error"}, // stricter
	{45, "localhost/a/b/c", hint},
	{46, "localhost:8080/a/b/c", "P localhost:8080/a/b/c"},
	{47, "127.0.0.1:8080/a/b/c", "R 127.0.0.1:8080/a/b/c"},
	{48, "[::1]:80/a/b/c", hint},
	{49, "xn--bcher-kva.example/a/b/c", hint},
	{50, "bücher.example/a/b/c", "R bücher.example/a/b/c"},
	{51, "ｅｘａｍｐｌｅ.com/a/b/c", "R example.com/a/b/c"},
	{52, "reg.example.com./a/b/c", "R reg.example.com./a/b/c"},
	{53, "reg..example.com/a/b/c", hint},
	{53, "under_score.com/a/b/c", hint},
	{53, "*.x.com/a/b/c", hint},
	{54, "gitlab.com/acme/net/aws", "R gitlab.com/acme/net/aws"},
	{55, "gitlab.com/acme/net", hint},
	{55, "gitlab.com/acme/net.git", hint},
	{56, "git::gitlab.com/acme/net", hint},
	{57, "registry.terraform.io/a/b/c", "R registry.terraform.io/a/b/c"},
	{58, "GITHUB.com/a/b/c", hint},
	{59, "github.com:443/a/b/c", "P github.com:443/a/b/c"},
	{60, "github.com:8443/a/b/c", "R github.com:8443/a/b/c"},
}
