package hostile_test

import (
	"fmt"
	"iter"
	"strings"
)

// Listings yields a registry's answers to a request for the versions of a module.
func Listings() iter.Seq[Case[string]] {
	deep := func(open string, n int) string { return strings.Repeat(open, n) }
	version := func(v string) string { return fmt.Sprintf(`{"modules":[{"versions":[{"version":%s}]}]}`, v) }
	return texts([]list{
		{"json/malformed", []string{
			"", " ", "null", "{}", "[]", "true", "1", `"x"`, "{", `{"modules"`, `{"modules":`, `{"modules":[`, `{"modules":[{`, `{"modules":[{}`, `{"modules":[{}]`, "{\"modules\":[]}\x00", "<html></html>",
			"\ufeff" + version(`"1.0.0"`), version(`"1.0.0"`) + "}", version(`"1.0.0"`) + version(`"1.0.0"`), "\x00", "\xff\xfe", version("\"1.0.0\x01\""), `{'modules':[]}`, `{modules:[]}`, `{"modules":[],}`, "\x1b[2J",
		}},
		{"json/types", []string{
			`{"modules":null}`, `{"modules":{}}`, `{"modules":"x"}`, `{"modules":1}`, `{"modules":[]}`, `{"modules":[1]}`, `{"modules":["x"]}`, `{"modules":[[]]}`, `{"modules":[{"versions":{}}]}`, `{"modules":[{"versions":"1.0.0"}]}`,
			`{"modules":[{"versions":["1.0.0"]}]}`, `{"modules":[{"versions":[1]}]}`, version("1"), version("{}"), version(`["1.0.0"]`), version("true"), version("1e999999"),
		}},
		{"json/deep", []string{
			deep("[", 400_000), deep(`{"a":`, 400_000), `{"modules":` + deep("[", 400_000), `{"modules":[{"versions":` + deep("[", 400_000), `{"x":` + deep(`{"a":[`, 100_000), `{"modules":[{"versions":[{"version":` + deep("[", 20_000) + deep("]", 20_000) + "}]}]}",
		}},
		{"json/large", []string{
			version(`"1.0.0"`) + strings.Repeat(" ", 32<<20), `{"modules":[{"versions":[` + strings.TrimSuffix(strings.Repeat(`{"version":"1.0.0"},`, 100_001), ",") + `]}]}`,
		}},
		// Entries that are not versions are left out, so they never get into a path, an argument or
		// a message.
		{"version/none", []string{
			version(`"1.0.0/../../x"`), version(`"--upload-pack=id"`), version(`"1.0.0\u001b[2J"`), version(`"1.0.0\n"`), version(`" 1.0.0"`), version(`"1.0.0 "`), version(`"999999999999999999999.0.0"`), version(`""`), version(`"latest"`),
			version(`"1.0.0\u0000"`), version(`"1.0.0+"`), version(`"1.0.0-\u202e"`), version(`"-1.0.0"`), version(`"1..0"`), version(`"1.0.0-ä"`), version(`"1.0.0;id"`), version(`"$(id)"`), version(`"../1.0.0"`),
			version(`"\ud800"`), version("\"1.0.0\xff\""), version(`"１.０.０"`), version(`"1.0.0-a b"`), version(`"https://h/1.0.0"`), version(`null`), `{"modules":[{}]}`, `{"modules":[null]}`, `{"modules":[{"versions":[]}]}`, `{"modules":[{"versions":[null]}]}`,
		}},
		{"version/good", []string{
			version(`"1.0.0"`), version(`"v1.0.0"`), version(`"1.0"`), version(`"1.0.0-"`), version(`"1.0.0-rc.1"`), version(`"1.0.0+b"`), version(`"\u0031.0.0"`), `{"modules":[{"versions":[{"version":"1.0.0"},{"version":"1.0.0"}]},{"versions":[{"version":"9.9.9"}]}]}`,
			`{"modules":[{"source":"other/name/aws","versions":[{"version":"1.0.0"}]}]}`, `{"modules":[{"versions":[{"version":"x"},{"version":"1.0.0"}]}]}`, `{"extra":[1,2,{"a":null}],"modules":[{"versions":[{"version":"1.0.0"}]}]}`,
		}},
	})
}

// Documents yields discovery documents.
func Documents() iter.Seq[Case[string]] {
	service := func(u string) string { return fmt.Sprintf(`{"modules.v1":%q}`, u) }
	return texts([]list{
		{"discovery/malformed", []string{
			"", "null", "[]", "{}", "1", "x", "{", `{"modules.v1"`, `{"modules.v1":"/v1/"`, `{"modules.v1":"/v1/"}}`, "\ufeff" + `{"modules.v1":"/v1/"}`, `{"modules.v1":"/v1/","a":x}`, `{"modules.v1":null}`, `{"modules.v1":1}`, `{"modules.v1":["/v1/"]}`, `{"modules.v1":{}}`,
			`{"modules.v1":"/a/","modules.v1":"/b/"}`, `{"modules.v1":"/a/","modul\u0065s.v1":"/b/"}`, `{"modules.v2":"/v2/"}`, `{"MODULES.V1":"/v1/"}`, `{"modules.v1":` + strings.Repeat("[", 400_000), strings.Repeat(`{"modules.v1":`, 100_000), `{"modules.v1":"/v1/"}` + strings.Repeat(" ", 1<<20),
		}},
		{"discovery/location", []string{
			service("http://example.com/v1/"), service("http://127.0.0.1/v1/"), service("http://169.254.169.254/"), service("ftp://example.com/"), service("file:///etc/"), service("https://127.0.0.1/v1/"), service("https://169.254.169.254/"), service("https://"), service("https:///v1/"), service("https:v1"), service("https://["),
			service("https://u:p@example.com/v1/"), service("https://example.com:port/"), service("javascript:x"), service("git::https://h/x"), service("https://exa mple.com/"), service("HTTP://example.com/"), service("data:,x"),
		}},
		{"discovery/good", []string{
			service("/v1/"), service("v1"), service("//"), service("https://other.example.com/v1/"), service("../../../v1/"), `{"modules.v1":"/v1/","login.v1":{"x":[1]}}`, `{"providers.v1":1,"modules.v1":"/v1/"}`,
		}},
	})
}

// Manifests yields modules.json files. Refused means that the next run continues as if there were
// none.
func Manifests() iter.Seq[Case[string]] {
	record := func(r string) string { return `{"Modules":[` + r + `]}` }
	return texts([]list{
		{"manifest/malformed", []string{
			" ", "{", "[]", "1", `"x"`, "\x00", "\xff", "<html>", `{"Modules":{}}`, `{"Modules":"x"}`, `{"Modules":[1]}`, `{"Modules":[[]]}`, record(`{"Key":1}`), record(`{"Key":"a","Dir":[]}`), record(`{"Key":"a"},{"Key":"a"}`),
			record(`{"Key":"a","Version":"x"}`), record(`{"Key":"a","Version":"../.."}`), record(`{"Key":"a"}`) + "x", `{"Modules":` + strings.Repeat("[", 400_000), strings.Repeat(`{"Modules":`, 400_000), "\ufeff" + record(""), `{"Modules":[]}` + strings.Repeat(" ", 16<<20),
			`{"Modules":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}",
		}},
		// The manifest is only a hint. Paths in it that point elsewhere are not followed, which the
		// installer's own tests check.
		{"manifest/good", []string{
			"", "null", "{}", record(""), record(`{"Key":"a","Dir":"/etc"}`), record(`{"Key":"a","Dir":"../../x"}`), record(`{"Key":"../a","Source":"\u001b[2J","Dir":"a"}`), record(`{"key":"a","DIR":"a","Extra":[[1]]}`), record(`{"Key":"a","Version":"v1.4"}`),
		}},
	})
}
