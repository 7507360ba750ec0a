package addrs_test

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
)

const secretAddress = "git::https://S3CRET:S3CRET@example.com/net.git//vpc?ref=v1.2.0&token=S3CRET#S3CRET"

type textValue interface {
	encoding.TextMarshaler
	fmt.Stringer
}

func remote(t *testing.T, raw string) addrs.ModuleSourceRemote {
	t.Helper()
	source, err := addrs.ParseModuleSource(raw)
	testenv.Must(t, err)
	return source.(addrs.ModuleSourceRemote)
}

func TestText(t *testing.T) {
	t.Parallel()
	provider := addrs.Provider{Hostname: "xn--bcher-kva.example", Namespace: "acme", Type: "cloud"}
	registry := addrs.ModuleRegistryPackage{Host: "registry.opentofu.org", Namespace: "a", Name: "b", TargetSystem: "c"}
	tests := []struct {
		name  string
		value textValue
		want  string
	}{
		{"module", addrs.Module{"network", "subnets"}, "network.subnets"},
		{"root module", addrs.Module(nil), ""},
		{"module of a test file", addrs.Module{"test", "1-main", "setup"}, "test.1-main.setup"},
		{"international host", addrs.Hostname("xn--bcher-kva.example:8443"), "bücher.example:8443"},
		{"local path", addrs.ModuleSourceLocal("./app"), "./app"},
		{"local parent", addrs.ModuleSourceLocal("./.."), "./.."},
		{"registry", addrs.ModuleSourceRegistry{Package: registry, Subdir: "x/y"}, "registry.opentofu.org/a/b/c//x/y"},
		{"registry package", registry, "registry.opentofu.org/a/b/c"},
		{"package", addrs.ParseModulePackage("git::ssh://example.com/net.git?ref=v1"), "git::ssh://example.com/net.git?ref=v1"},
		{"remote", remote(t, "github.com/acme/net//vpc?ref=v1"), "git::https://github.com/acme/net.git//vpc?ref=v1"},
		{"provider", provider, "bücher.example/acme/cloud"},
		{"provider with a prefix", addrs.Provider{Hostname: "registry.opentofu.org", Namespace: "hashicorp", Type: "terraform-null"}, "registry.opentofu.org/hashicorp/terraform-null"},
		{"legacy provider", addrs.Provider{Hostname: "registry.terraform.io", Namespace: "-", Type: "null"}, "registry.terraform.io/-/null"},
		{"platform", addrs.Platform{OS: "linux", Arch: "amd64"}, "linux_amd64"},
		{"no local path", addrs.ModuleSourceLocal(""), ""},
		{"no registry address", addrs.ModuleSourceRegistry{}, ""},
		{"no registry package", addrs.ModuleRegistryPackage{}, ""},
		{"no package", addrs.ModulePackage{}, ""},
		{"no remote address", addrs.ModuleSourceRemote{}, ""},
		{"no provider", addrs.Provider{}, ""},
		{"no platform", addrs.Platform{}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text, err := test.value.MarshalText()
			if err != nil || string(text) != test.want || test.want == "" && test.value.String() != "" {
				t.Fatalf("MarshalText() = %q, %v, String() = %q, want %q", text, err, test.value, test.want)
			}
			again := reflect.New(reflect.TypeOf(test.value))
			testenv.Must(t, again.Interface().(encoding.TextUnmarshaler).UnmarshalText(text))
			if got := again.Elem().Interface(); !reflect.DeepEqual(got, test.value) {
				t.Errorf("UnmarshalText(%q) = %#v, want %#v", text, got, test.value)
			}
			var log bytes.Buffer
			slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "value", test.value)
			if want := fmt.Sprintf(`"value":%q`, test.want); !strings.Contains(log.String(), want) {
				t.Errorf("the log is %s, want %s", log.String(), want)
			}
		})
	}
}

func TestInvalidValuesHaveNoText(t *testing.T) {
	t.Parallel()
	for _, value := range []textValue{
		addrs.Module{"a.b"}, addrs.Module{"a", ""}, addrs.Module{"../x"},
		addrs.ModuleSourceLocal("app"), addrs.ModuleSourceLocal("./a/../b"),
		addrs.Provider{Type: "null"}, addrs.Provider{Hostname: "example.com", Namespace: "A", Type: "null"},
		addrs.Platform{OS: "linux"}, addrs.Platform{OS: "linux_amd64", Arch: "x"},
		addrs.ModuleRegistryPackage{Namespace: "a"},
		addrs.ModuleSourceRegistry{Subdir: "x"},
		addrs.ModuleSourceRegistry{Package: addrs.ModuleRegistryPackage{Host: "example.com", Namespace: "a", Name: "b", TargetSystem: "c"}, Subdir: "../x"},
	} {
		if text, err := value.MarshalText(); err == nil {
			t.Errorf("%T(%v) has the text %q", value, value, text)
		}
	}
}

func TestInvalidTextKeepsValue(t *testing.T) {
	t.Parallel()
	platform := addrs.Platform{OS: "linux", Arch: "amd64"}
	if err := platform.UnmarshalText([]byte("linux")); err == nil || platform.OS != "linux" {
		t.Errorf("UnmarshalText: %v, %v", platform, err)
	}
	var pkg addrs.ModuleRegistryPackage
	if err := pkg.UnmarshalText([]byte("a/b/c//d")); err == nil {
		t.Errorf("a package with a subdirectory is %v", pkg)
	}
}

type holder struct {
	Package addrs.ModulePackage
	Source  addrs.ModuleSource
	Keys    map[addrs.ModulePackage]int
	List    []addrs.ModuleSourceRemote
	pkg     addrs.ModulePackage
	source  addrs.ModuleSourceRemote
}

func TestNothingPrintsSecrets(t *testing.T) {
	t.Parallel()
	source := remote(t, secretAddress)
	held := holder{source.Package, source, map[addrs.ModulePackage]int{source.Package: 1}, []addrs.ModuleSourceRemote{source}, source.Package, source}
	at, err := source.Package.Location()
	testenv.Must(t, err)
	values := map[string]any{"location": at, "location in a struct": struct{ At addrs.Location }{at}, "package": source.Package, "source": source, "holder": held, "pointer": &source, "pointer to holder": &held}
	for name, value := range values {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%10s", "%T"} {
			fmt.Fprintf(&out, verb+"\n", value)
		}
		fmt.Fprintln(&out, value)
		for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
			slog.New(handler).Info("message", "value", value, slog.Group("group", "value", value))
		}
		text, err := json.Marshal(value)
		testenv.Must(t, err)
		out.Write(text)
		if hexadecimal := fmt.Sprintf("%x", "S3CRET"); strings.Contains(out.String(), "S3CRET") || strings.Contains(out.String(), hexadecimal) {
			t.Errorf("%s: %s", name, out.String())
		}
		if name == "package" && !strings.Contains(out.String(), "git::https://example.com/net.git") {
			t.Errorf("the address is missing: %s", out.String())
		}
	}
	if !strings.Contains(source.String(), "S3CRET") || held.pkg.String() != held.source.Package.String() {
		t.Errorf("String() = %q, want the exact text", source.String())
	}
	stored, err := source.MarshalText()
	if err != nil || string(stored) != "git::https://example.com/net.git//vpc?ref=v1.2.0" {
		t.Errorf("MarshalText() = %q, %v", stored, err)
	}
}

func TestJSON(t *testing.T) {
	t.Parallel()
	type document struct {
		Module    addrs.Module
		Source    addrs.ModuleSource
		Providers map[addrs.Provider][]addrs.Platform
	}
	given := document{addrs.Module{"a", "b"}, addrs.ModuleSourceLocal("./x"), map[addrs.Provider][]addrs.Platform{
		{Hostname: addrs.DefaultRegistryHost, Namespace: "hashicorp", Type: "null"}: {{OS: "linux", Arch: "arm64"}},
	}}
	text, err := json.Marshal(given)
	const want = `{"Module":"a.b","Source":"./x","Providers":{"registry.opentofu.org/hashicorp/null":["linux_arm64"]}}`
	if err != nil || string(text) != want {
		t.Fatalf("%s, %v, want %s", text, err, want)
	}
	var got struct {
		Module    addrs.Module
		Source    addrs.ModuleSourceLocal
		Providers map[addrs.Provider][]addrs.Platform
	}
	testenv.Must(t, json.Unmarshal(text, &got))
	if diff := cmp.Diff(given, document{got.Module, got.Source, got.Providers}); diff != "" {
		t.Error(diff)
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"", "a.b", "./x", "hashicorp/null", "registry.terraform.io/-/null", "terraform-null", "linux_amd64", "bücher.example/a/b/c//d",
		secretAddress, "git@github.com:a/b.git//c?ref=x", "s3::https://s3.amazonaws.com/b/k?aws_access_key_id=x", "gcs::https://x/y#1", "a:b@c//d", "%zz://x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		checkText(t, input, new(addrs.Module))
		checkText(t, input, new(addrs.ModuleSourceLocal))
		checkText(t, input, new(addrs.ModuleSourceRegistry))
		checkText(t, input, new(addrs.ModuleRegistryPackage))
		checkText(t, input, new(addrs.Provider))
		checkText(t, input, new(addrs.Platform))

		pkg := addrs.ParseModulePackage(input)
		stored, err := pkg.MarshalText()
		var again addrs.ModulePackage
		if err != nil || again.UnmarshalText(stored) != nil || again != pkg.WithoutCredentials() {
			t.Errorf("%q is stored as %q, %v and read as %q", input, stored, err, again.String())
		}
		// The arguments of a malformed URL stay, with other values.
		if _, err := pkg.Location(); err == nil && again.HoldsCredentials() {
			t.Errorf("%q is stored with credentials: %q", input, stored)
		}
		var source addrs.ModuleSourceRemote
		if source.UnmarshalText([]byte(input)) == nil && isReversible(source) && source.Package == source.Package.WithoutCredentials() {
			checkText(t, input, &source)
		}
	})
}

func checkText[T interface{ MarshalText() ([]byte, error) }, P interface {
	*T
	encoding.TextUnmarshaler
}](t *testing.T, input string, to P) {
	t.Helper()
	if to.UnmarshalText([]byte(input)) != nil {
		return
	}
	text, err := (*to).MarshalText()
	if err != nil {
		t.Errorf("%T of %q has no text: %v", *to, input, err)
		return
	}
	again := P(new(T))
	if err := again.UnmarshalText(text); err != nil || !reflect.DeepEqual(again, to) {
		t.Errorf("%T of %q has the text %q, which is parsed as %#v, %v", *to, input, text, *again, err)
	}
}

func TestModuleSourceText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`""`, `"./app"`, `"registry.opentofu.org/a/b/c//x"`, `"git::https://example.com/net.git//vpc?ref=v1"`} {
		var source addrs.ModuleSourceText
		testenv.Must(t, json.Unmarshal([]byte(text), &source))
		again, err := json.Marshal(source)
		if err != nil || string(again) != text {
			t.Errorf("%s becomes %s, error %v", text, again, err)
		}
	}
}
