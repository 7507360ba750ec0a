package addrs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
)

func TestParseModuleSourceRegistry(t *testing.T) {
	t.Parallel()
	tests := []struct{ input, full, display, protocol string }{
		{"acme/net/aws", "registry.opentofu.org/acme/net/aws", "acme/net/aws", "acme/net/aws"},
		{"acme/net/aws//a/", "registry.opentofu.org/acme/net/aws//a", "acme/net/aws//a", "acme/net/aws"},
		{"registry.opentofu.org/acme/net/aws", "registry.opentofu.org/acme/net/aws", "acme/net/aws", "acme/net/aws"},
		{"registry.terraform.io/Acme/Net/aws", "registry.terraform.io/Acme/Net/aws", "registry.terraform.io/Acme/Net/aws", "Acme/Net/aws"},
		{"Bücher.example:8443/a/b/c", "bücher.example:8443/a/b/c", "bücher.example:8443/a/b/c", "a/b/c"},
		{"acme/net/aws//x@1", "registry.opentofu.org/acme/net/aws//x@1", "acme/net/aws//x@1", "acme/net/aws"},
	}
	for _, test := range tests {
		src, err := addrs.ParseModuleSourceRegistry(test.input)
		if err != nil {
			t.Errorf("ParseModuleSourceRegistry(%q): %v", test.input, err)
			continue
		}
		if got := src.String(); got != test.full {
			t.Errorf("%q: String() = %q, want %q", test.input, got, test.full)
		}
		if got := src.ForDisplay(); got != test.display {
			t.Errorf("%q: ForDisplay() = %q, want %q", test.input, got, test.display)
		}
		if got := src.Package.ForRegistryProtocol(); got != test.protocol {
			t.Errorf("%q: ForRegistryProtocol() = %q, want %q", test.input, got, test.protocol)
		}
	}
}

func TestParseModuleSourceRegistryErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ input, want string }{
		{"./net", "local path"},
		{`..\net`, "local path"},
		{"github.com/a/b/c", "reserved"},
		{"bitbucket.org/a/b/c", "reserved"},
		{"acme/net", "three or four"},
		{"h.com/acme/net/aws/x", "three or four"},
		{"", "three or four"},
		{"under_score.com/a/b/c", "hostname"},
		{"xn--bcher-kva.example/a/b/c", "punycode"},
		{"localhost/a/b/c", "dot"},
		{"h.com:-1/a/b/c", "negative"},
		{"h\xff.com/a/b/c", "Unicode"},
		{"_a/b/c", "namespace"},
		{"a/b./c", "name"},
		{"a/b/C", "target system"},
		{"h.com/a/b", "after the hostname"},
		{"a/b/c?ref=x", "query"},
		{"a/b//c?ref=x", "query"},
		{"tok@h.com/a/b/c", "user name"},
		{"git::https://h.com/a", "remote package"},
		{"https://h.com/a", "remote package"},
		{"a/b/c//../d", "outside"},
		{"a/b/c//..", "outside"},
	}
	for _, test := range tests {
		src, err := addrs.ParseModuleSourceRegistry(test.input)
		var parseError *addrs.ParseError
		if !errors.As(err, &parseError) {
			t.Errorf("ParseModuleSourceRegistry(%q) = %v, %v, want a *ParseError", test.input, src, err)
			continue
		}
		if parseError.Input != addrs.Redact(test.input) {
			t.Errorf("ParseModuleSourceRegistry(%q): Input = %q", test.input, parseError.Input)
		}
		if !strings.Contains(err.Error(), test.want) {
			t.Errorf("ParseModuleSourceRegistry(%q): %q does not mention %q", test.input, err, test.want)
		}
	}
}

func TestDefaultRegistryHost(t *testing.T) {
	t.Parallel()
	parser := addrs.Parser{DefaultRegistryHost: addrs.TerraformRegistryHost}
	tests := []struct {
		input string
		want  addrs.Hostname
	}{
		{"acme/net/aws", addrs.TerraformRegistryHost},
		{"acme/net/aws//a/b", addrs.TerraformRegistryHost},
		{"registry.opentofu.org/acme/net/aws", addrs.DefaultRegistryHost},
		{"reg.example.com/acme/net/aws//a", "reg.example.com"},
	}
	for _, test := range tests {
		strict, err := parser.ParseModuleSourceRegistry(test.input)
		if err != nil || strict.Package.Host != test.want {
			t.Errorf("ParseModuleSourceRegistry(%q) = %v, %v, want the host %q", test.input, strict, err, test.want)
		}
		src, err := parser.ParseModuleSource(test.input)
		if err != nil || src != addrs.ModuleSource(strict) {
			t.Errorf("ParseModuleSource(%q) = %v, %v, want %v", test.input, src, err, strict)
		}
	}
}

func TestLocated(t *testing.T) {
	t.Parallel()
	tests := []struct{ location, subdir, want string }{
		{"git::https://h.com/n.git?ref=x", "", "git::https://h.com/n.git?ref=x"},
		{"git::https://h.com/n.git?ref=x", "a", "git::https://h.com/n.git//a?ref=x"},
		{"https://h.com/n.zip//*", "a/b", "https://h.com/n.zip//*/a/b"},
		{"https://h.com/n.zip//x/y", "", "https://h.com/n.zip//x/y"},
		{"https://h.com/n.zip//x/y", "../z", "https://h.com/n.zip//x/z"},
		{"https://h.com/n.zip", ".", "https://h.com/n.zip//."},
		{"https://h.com/n.zip//x", "../../z", outside},
		{"https://h.com/n.zip//x", "../..", outside},
		{"https://h.com/n.zip", "/x", "https://h.com/n.zip//x"},
	}
	for _, test := range tests {
		at, err := addrs.ParseModuleSource(test.location)
		testenv.Must(t, err)
		src := addrs.ModuleSourceRegistry{Subdir: test.subdir}
		located, err := src.Located(at.(addrs.ModuleSourceRemote))
		got := located.String()
		if errors.Is(err, addrs.ErrOutsidePackage) {
			got = outside
		}
		if got != test.want {
			t.Errorf("subdir %q Located(%q) = %q, %v, want %q", test.subdir, test.location, got, err, test.want)
		}
	}
}
