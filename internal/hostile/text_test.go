package hostile_test

import (
	"fmt"
	"iter"
	"strings"
)

// File is a configuration file.
type File struct{ Name, Text string }

// Configurations yields configuration files. Refused means that there is an error. Accepted means
// that the file has at most one module call and that the calls are read.
func Configurations() iter.Seq[Case[File]] {
	return func(yield func(Case[File]) bool) {
		for name, text := range nested() {
			if !yield(Case[File]{"hcl/deep", "main.tf " + name, File{"main.tf", text}}) {
				return
			}
			if name == "list" && !yield(Case[File]{"hcl/deep", "main.tofu " + name, File{"main.tofu", text}}) { // has the same parser
				return
			}
		}
		for i, text := range nestedJSON() {
			if !yield(Case[File]{"hcl/deep", fmt.Sprint("main.tf.json ", i), File{"main.tf.json", text}}) {
				return
			}
		}
		for _, c := range []list{hclSyntax(), hclValues(), hclGood()} {
			for _, text := range c.texts {
				if !yield(Case[File]{c.class, label(text), File{"main.tf", text}}) {
					return
				}
			}
		}
		for _, text := range jsonConfigurations() {
			if !yield(Case[File]{"hcl/json", label(text), File{"main.tf.json", text}}) {
				return
			}
		}
	}
}

// nested returns everything that can be nested in HCL, at depths at which the parser's stack
// would end the process.
func nested() map[string]string {
	const n = 60_000
	x := `module "a" {` + "\n source = "
	return map[string]string{
		"list": x + strings.Repeat("[", n), "parentheses": x + strings.Repeat("(", n), "object": x + strings.Repeat("{a=", n), "template": x + strings.Repeat(`"${`, n), "minus": x + strings.Repeat("-(", n), "not": x + strings.Repeat("!(", n),
		"call": x + strings.Repeat("f(", n), "index": x + strings.Repeat("a[", n), "condition": x + strings.Repeat("a?(", n), "for": x + strings.Repeat("[for a in ", n), "blocks": strings.Repeat("module \"a\" {\n", 150_000), "splat": x + strings.Repeat("[*[", n),
		"heredocs": x + strings.Repeat("<<A\n${", n), "directives": x + `"` + strings.Repeat("%{if ", n), "closed list": x + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "\n}", "closed blocks": strings.Repeat("a {\n", 300) + strings.Repeat("}\n", 300) + x,
	}
}

func nestedJSON() []string {
	return []string{
		`{"module":` + strings.Repeat("[", 400_000), strings.Repeat(`{"module":`, 400_000), `{"module":{"a":{"source":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}}}", `{"module":{"a":{"source":"` + strings.Repeat("${", 60_000) + `"}}}`,
	}
}

func hclSyntax() list {
	return list{"hcl/syntax", []string{
		`module "a" {`, `module "a" { source = }`, `module "a" }`, `module "a" "b" { source = "./x" }`, `module { source = "./x" }`, "module \"a\" {\n source = \"./x\n}", "module \"a\" {\n source = \"./x\"\n source = \"./y\"\n}",
		"<<<<<<< HEAD\nmodule \"a\" {\n  source = \"./x\"\n}\n=======\n>>>>>>> b\n", "module \"a\" {\n source = \"\xff\"\n}", "module \"a\" {\n source = <<A\n", "module \"a\" {\n source = \"${\"\n}", "module = 1 }", "module \"a\" {\n /* \n}",
		"module \"../../x\" {\n source = \"./x\"\n}", "module \"a/b\" {\n source = \"./x\"\n}", "module \"\" {\n source = \"./x\"\n}", "module \"a.b\" {\n source = \"./x\"\n}", "module \"a\\u0000b\" {\n source = \"./x\"\n}", "module \"..\" {\n source = \"./x\"\n}",
		"module \"a\\nb\" {\n source = \"./x\"\n}", "module \"-a\" {\n source = \"./x\"\n}", "module \"1\" {\n source = \"./x\"\n}", "module \"a b\" {\n source = \"./x\"\n}", "module \"a\\u001b[2J\" {\n source = \"./x\"\n}", "module \"C:\" {\n source = \"./x\"\n}", "module \"a\\\\b\" {\n source = \"./x\"\n}",
		"module \"a\" {\n source = \"./x\"\n}\nmodule \"a\" {\n source = \"./y\"\n}",
	}}
}

// hclValues returns sources that are not strings, that depend on unknown or missing values, or
// that read files outside of the package.
func hclValues() list {
	var texts []string
	for _, expr := range []string{
		`var.x`, `local.x`, `"${var.x}"`, `file("/etc/passwd")`, `"${file("/etc/passwd")}"`, `env("HOME")`, `templatefile("/etc/passwd", {})`, `[]`, `["./x"]`, `{}`, `true ? 1`, `data.x.y.z`, `each.key`, `timestamp()`, `uuid()`, `file("../../../../etc/passwd")`,
		`"${a}${b}"`, `<<A` + "\n${x}\nA", `module.b.x`, `x`, `provider::x::y()`, `[for a in b : a]`, `null`, `sensitive("x")`, `"%{ if a }b%{ endif }"`,
	} {
		texts = append(texts, "module \"a\" {\n source = "+expr+"\n}")
	}
	return list{"hcl/value", texts}
}

func hclGood() list {
	return list{"hcl/good", []string{
		"", "\n", "# a comment\n", "\x00module \"a\" {}", "\ufeffmodule \"a\" {\n source = \"./x\"\n}", "module \"a\" {\r\n source = \"./x\"\r\n}\r\n", "resource \"x\" \"y\" {\n a = file(\"/etc/passwd\")\n}", "module \"a\" {\n source = \"$${x}\"\n}", "module \"a\" {\n source = \"\\u001b[2J\"\n}",
		"module \"" + strings.Repeat("a", 300) + "\" {\n source = \"./x\"\n}", "module \"\u00e9\" {\n source = \"./x\"\n}", "module \"a\" {\n source = <<A\n./x\nA\n}", "module \"a\" {\n x = [[[[[1]]]]]\n source = \"./x\"\n}", "module \"a\" {\n source = (\"./x\")\n}",
		"module \"a\" {\n source = upper(\"./a\")\n}", "module \"a\" {\n source = terraform.workspace\n}", "module \"a\" {\n source = \"${path.module}/x\"\n}",
	}}
}

func jsonConfigurations() []string {
	return []string{
		`{"module":`, `{"module":{"a":{"source":"./x"}}`, `{"module":{"a":{"source":1}}}}`, `{"module":{"a":{"source":["./x"]}}}`, `{"module":{"a":{"source":{}}}}`, `{"module":{"a":{"source":"${file(\"/etc/passwd\")}"}}}`, `{"module":{"a":{"source":"${var.x}"}}}`,
		`{"module":{"../x":{"source":"./x"}}}`, `{"module":{"":{"source":"./x"}}}`, `{"module":{"a\u0000":{"source":"./x"}}}`, `{"module":{"a":{"source":"./x"},"a":{"source":"./y"}}}`, `{"module":"x"}`, `{"module":{"a":"x"}}`, "\x00{\"module\":{}}", `{"module":{"a":{"source":"` + strings.Repeat("${x}", 2000) + `"}}}`,
		`{"module":{"a":{"source":"./x"}}}{"module":{}}`,
	}
}

// Locks yields lock files.
func Locks() iter.Seq[Case[string]] {
	const h1 = `"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="`
	block := func(body string) string { return "module \"a\" {\n" + body + "\n}\n" }
	with := func(attribute string) string {
		return block("  source = \"registry.opentofu.org/a/b/c\"\n  hashes = [" + h1 + "]\n" + attribute)
	}
	hashes := func(list string) string {
		return block("  source = \"registry.opentofu.org/a/b/c\"\n  hashes = " + list)
	}
	key := func(k string) string {
		return "module " + k + " {\n  source = \"registry.opentofu.org/a/b/c\"\n  hashes = [" + h1 + "]\n}\n"
	}
	var deep []string
	for _, text := range nested() {
		deep = append(deep, text)
	}
	good := with("")
	var cut []string
	for size := 10; size < len(good)-2; size += 5 {
		cut = append(cut, good[:size])
	}
	return texts([]list{
		{"lock/deep", deep},
		{"lock/truncated", cut},
		{"lock/literal", []string{
			with(`version = file("/etc/passwd")`), with(`version = "${x}"`), with(`version = upper("a")`), with(`version = var.x`), with(`version = 1`), with(`version = null`), with(`version = ["1.0.0"]`), with("version = <<A\n1.0.0\nA"), with(`version = ("1.0.0")`), with(`version = true ? "1.0.0" : "2.0.0"`),
			hashes(`var.x`), hashes(`["${x}"]`), hashes(`{}`), hashes(`"h1:x"`), hashes(`[for x in y : x]`), hashes(`null`), hashes(`[null]`), hashes(`[1]`), hashes(`toset([])`), hashes(`[[` + h1 + `]]`), with("package = \"%{ if a }b%{ endif }\""), with(`constraints = local.x`),
		}},
		{"lock/hashes", []string{
			hashes(`[]`), block(`  source = "registry.opentofu.org/a/b/c"`), hashes(`[""]`), hashes(`["h1:"]`), hashes(`["h1:x"]`), hashes(`["h1:AAAA"]`), hashes(`["md5:d41d8cd98f00b204e9800998ecf8427e"]`), hashes(`["zz:1"]`), hashes(`["` + strings.Repeat("x", 100) + `"]`),
			hashes(`["zh:` + strings.Repeat("0", 64) + `"]`), hashes(`[` + h1 + `, ` + h1 + `]`), hashes(`[` + h1 + `, "h1:` + strings.Repeat("A", 43) + `="]`), hashes(`["t1:x", ` + h1 + `]`), hashes(`["H1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]`), hashes(`[" h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]`),
			hashes(`["h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"]`), hashes(`["h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"]`), hashes(`["h1:47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU="]`),
		}},
		{"lock/key", []string{
			key(`"a" "b"`), key(``), key(`""`), key(`"."`), key(`".."`), key(`"a."`), key(`".a"`), key(`"a..b"`), key(`"-a"`), key(`"1"`), key(`"a b"`), key(`"a\u0000"`), key(`"a\u001b[2J"`), key(`"a\nb"`), key(`"C:"`), key(`"a\\b"`), key(`"${x}"`), key(`"a[0]"`), good + good, key(`"` + strings.Repeat("a.", 5000) + `"`),
		}},
		{"lock/values", []string{
			with(`version = ""`), with(`version = "x"`), with(`version = "1.0.0/../../x"`), with(`version = "--upload-pack=id"`), with(`version = "1.0.0\u001b[2J"`), with(`version = " 1.0.0"`), with(`constraints = "=> 1"`), with(`constraints = ""`), with(`constraints = "latest"`), with(`package = ""`),
			block("  hashes = [" + h1 + "]"), block("  source = \"\"\n  hashes = [" + h1 + "]"), block("  source = \"git::https://u:p@h/x\"\n  hashes = [" + h1 + "]"), with(`package = "git::https://u:p@h/x?ref=a"`), with(`source = "x"`), with("version = \"1.0.0\"\n  version = \"2.0.0\""), with("package = \"https://u:\\u0070@h/x.zip\""),
		}},
		{"lock/file", []string{
			"<<<<<<< HEAD\n" + good + "=======\n" + good + ">>>>>>> b\n", good + "}\n", "\x00", "\xff\xfe" + good, good + "\x00", "{\"module\":{}}", "module", `module "a"`, strings.Repeat("#\n", 17<<20), "module \"a\" = 1\n", "module \"a\" {\n", "\"module\" {}}\n", "<!DOCTYPE html>\n",
		}},
		{"lock/good", []string{
			"", "\n", "# a comment\n", good, strings.ReplaceAll(good, "\n", "\r\n"), "\ufeff" + good, strings.TrimSuffix(good, "\n"), with(`format = 9`), with(`unknown = file("/etc/passwd")`), with("extra {\n a = 1\n}"), with(`version = "1.0.0"`), key(`"a.b.c"`), key(`"registry.opentofu.org/a/b/c"`), key(`"../../x"`),
			with(`package = "git::https://h/x?ref=` + strings.Repeat("a", 40) + `"`), with(`package = "--upload-pack=id"`), with(`package = "file:///etc"`), "provider \"x\" {\n  version = file(\"/etc/passwd\")\n}\n" + good, "terraform {\n}\n", hashes(`[` + h1 + `, "zz:1"]`), with(`version = "\u0031.0.0"`), key(`"\u0061"`),
		}},
	})
}

// Refs yields refs in addresses. Refused means that git never sees them.
func Refs() iter.Seq[Case[string]] {
	var characters []string
	for r := rune(0); r < ' '; r++ {
		characters = append(characters, "a"+string(r)+"b")
	}
	for _, r := range " ~^:?*[\\\x7f" {
		characters = append(characters, "a"+string(r)+"b")
	}
	return texts([]list{
		{"ref/option", []string{"-", "--", "--upload-pack=id", "-c", "-ccore.sshCommand=id", "--exec=id", "-o", "--output=/etc/x", "-\u00e9", "--end-of-options"}},
		{"ref/expression", []string{"@", "a@{1}", "@{u}", "HEAD@{0}", "a..b", "a...b", "..", "a^{tree}", ":/fix", "a:b", "v1^{}", "HEAD~1", "a^", "^a"}},
		{"ref/form", []string{"/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "a/..", "refs/heads/.a", "refs//heads/a", "/", ".", strings.Repeat("a", 1025)}},
		{"ref/character", characters},
		{"ref/good", []string{"v1.0.0", "main", "feature/x", "a-b", "a@b", "a{b}", "\u00e9", "HEAD", "refs/tags/v1", "refs/heads/refs/tags/v1", strings.Repeat("a", 40), strings.Repeat("A", 40), "deadbeef", "a%2fb", "$(id)", "a;id", "a|b", "`id`", "&", "'\""}},
	})
}
