package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/testenv"
)

// TestTamperInstalled changes installed files. Each installation repairs and names them;
// verify only names them.
func TestTamperInstalled(t *testing.T) {
	t.Parallel()
	const whole = modules + ".cotter/tree/*/shared/policy.json"
	replaced := func(key, what string) *outcome {
		return healed("module "+key+": its installed files do not match the lock", what, "replaced")
	}
	// verify lists the files on separate lines.
	differs := func(key, what string) *outcome {
		return refused("- "+key+": ", strings.ReplaceAll(what, ":", ""), "Run `cotter install`")
	}
	row := func(name, key, what string, do ...step) tampering {
		return tampering{name: name, do: all(do...), want: outcomes{locked: replaced(key, what), empty: replaced(key, what), verify: differs(key, what)}}
	}
	// named is for files that modules may write next to their own files.
	named := func(name, key, what string, do ...step) tampering {
		return tampering{name: name, do: all(do...), want: outcomes{locked: accepted(), verify: accepted(what)}}
	}
	testTampering(t, tamperSite(t, "go", "app", "commit", "hosted", "net", "oci", "tag", "tgz", "zip"), []tampering{
		{name: "nothing", do: all(), want: outcomes{locked: accepted(), fresh: healed(), cold: healed(), verify: accepted(), remote: accepted()}},

		row("byte flipped", "zip", `changed: "main.tf"`, edit(modules+"zip/main.tf", "z", "Z")),
		row("nested call", "net.subnets", `changed: "main.tf"`, edit(modules+"net.subnets/main.tf", "#", "//")),
		row("below a local module", "app.net", `changed: "main.tf"`, edit(modules+"app.net/main.tf", "1", "2")),
		row("local module of a package", "net", `changed: "modules/a/main.tf"`, edit(modules+"net/modules/a/main.tf", "a", "b")),
		row("hosted", "hosted", `changed: "hosted-1.0.0/main.tf"`, edit(modules+"hosted/hosted-1.0.0/main.tf", "h", "H")),
		row("execute bit set", "zip", `changed: "main.tf"`, chmod(modules+"zip/main.tf", 0o755)),
		row("file deleted", "net", `vanished: "README.md"`, drop(modules+"net/README.md")),
		row("tf added", "net", `added: "evil.tf"`, put(modules+"net/evil.tf", "# evil\n")),
		row("tf.json added", "net", `added: "evil.tf.json"`, put(modules+"net/evil.tf.json", "{}")),
		row("tofu added", "net", `added: "main.tofu"`, put(modules+"net/main.tofu", "# evil\n")),
		row("tf added deep", "tag", `added: "modules/dns/sub/evil.tf"`, put(modules+"tag/modules/dns/sub/evil.tf", "# evil\n")),
		named("test added", "net", `added "evil.tftest.hcl"`, put(modules+"net/evil.tftest.hcl", "")),
		named("tfvars added", "net", `added "evil.auto.tfvars"`, put(modules+"net/evil.auto.tfvars", "x = 1\n")),
		named("text added", "tag", `added "modules/dns/out/x.txt"`, put(modules+"tag/modules/dns/out/x.txt", "x")),
		named("settings added", "tag", `added ".terraformrc"`, put(modules+"tag/.terraformrc", "x")),
		row("file replaced by a link", "net", `changed: "main.tf"`,
			rename(modules+"net/main.tf", modules+"net/x.txt"), link(modules+"net/main.tf", "x.txt")),
		row("link retargeted", "zip", `changed: "link.md"`, link(modules+"zip/link.md", "main.tf")),
		row("shared file", "tag", `changed: "shared/policy.json"`, edit(whole, "{}", "[]")),
		row("a package without links", "commit", `added: "sub/evil.tf"`, put(modules+"commit/sub/evil.tf", "# evil\n")),
		row("renamed", "zip", `added: "main2.tf"`, rename(modules+"zip/main.tf", modules+"zip/main2.tf")),
		row("file replaced by a directory", "zip", `vanished: "main.tf"`, drop(modules+"zip/main.tf"), put(modules+"zip/main.tf/main.tf", "")),
		{name: "directory removed", do: drop(modules + "zip"), want: outcomes{locked: healed(), verify: refused("- zip: not installed", "Run `cotter install`")}},
	})
}

// TestTamperManifest changes modules.json and the links to whole packages, which point to
// the installed files. Stock tools follow both.
func TestTamperManifest(t *testing.T) {
	t.Parallel()
	const manifest = modules + "modules.json"
	row := func(name, says string, do ...step) tampering {
		return tampering{name: name, do: all(do...), want: outcomes{locked: healed(), verify: refused(says, "Run `cotter install`")}}
	}
	intoWhole := func(t *testing.T, s *site) {
		whole := filepath.Dir(filepath.Dir(s.path(t, modules+".cotter/tree/*/shared/policy.json")))
		testenv.WriteFile(t, filepath.Join(whole, "evil.tf"), "# evil\n")
	}
	testTampering(t, tamperSite(t, "go", "app", "net", "tag", "tgz", "zip"), []tampering{
		row("directory outside", `module net (main.tf:5): modules.json does not match the lock: it points to "evil" instead of ".terraform/modules/net"`,
			edit(manifest, `"Dir":".terraform/modules/net"`, `"Dir":"evil"`)),
		row("directory above", `it points to "../evil"`,
			edit(manifest, `"Dir":".terraform/modules/net"`, `"Dir":"../evil"`)),
		row("absolute directory", `it points to "/etc"`,
			edit(manifest, `"Dir":".terraform/modules/net"`, `"Dir":"/etc"`)),
		row("directory of another call", `module zip (main.tf`,
			edit(manifest, `"Dir":".terraform/modules/zip"`, `"Dir":".terraform/modules/tgz"`)),
		row("directory of another module of the package", `it points to ".terraform/modules/tag/modules/other" instead of`,
			edit(manifest, `"Dir":".terraform/modules/tag/modules/dns"`, `"Dir":".terraform/modules/tag/modules/other"`)),
		row("directory of a local module", `module app (main.tf:2): modules.json does not match the lock: it points to "evil"`,
			edit(manifest, `"Dir":"app"`, `"Dir":"evil"`)),
		row("directory of a local module in a package", `module net.a`,
			edit(manifest, `"Dir":".terraform/modules/net/modules/a"`, `"Dir":"evil"`)),
		row("source", `module zip (main.tf:15): modules.json does not match the lock: it has the source`, edit(manifest, `HOST/archives/n.zip"`, `HOST/archives/m.zip"`)),
		row("source of a local module", `it has the source "./evil"`, edit(manifest, `"Source":"./app"`, `"Source":"./evil"`)),
		row("version", `it has the version "1.0.0", and the lock has "1.1.0"`, edit(manifest, `"Version":"1.1.0"`, `"Version":"1.0.0"`)),
		row("version gone", `it has the version "", and the lock has "1.1.0"`, edit(manifest, `"Version":"1.1.0",`, ``)),
		row("record removed", `module zip (main.tf:15): modules.json does not match the lock: it has no record of the module`, edit(manifest, `{"Key":"zip",`, `{"Key":"zip2",`)),
		row("no records", `module zip (main.tf:15): modules.json does not match the lock: it has no record of the module`, put(manifest, `{"Modules":[]}`)),
		row("no manifest", `modules.json does not match the lock: it is gone`, drop(manifest)),
		row("no JSON", `modules.json does not match the lock: unexpected end of JSON`, put(manifest, `{"Modules":[`)),
		row("two records of a key", `modules.json does not match the lock: record "zip": there are two records with this key`, edit(manifest, `{"Modules":[`, `{"Modules":[{"Key":"zip","Source":"./evil","Dir":"evil"},`)),
		row("record of no call", `- evil: installed, but the lock has no entry for it`,
			edit(manifest, `{"Modules":[`, `{"Modules":[{"Key":"evil","Source":"git::https://HOST/git/plain.git","Dir":"evil"},`)),
		row("package directory is a link", `zip is not a directory`, link(modules+"zip", "tgz")),
		row("package directory is a file", `zip is not a directory`, drop(modules+"zip"), put(modules+"zip", "")),
		row("link to the whole package retargeted", `vanished "shared/policy.json"`, link(modules+"tag/shared", "../../../app")),
		row("link to the whole package is a copy", `changed "shared/policy.json"`, drop(modules+"tag/shared"), put(modules+"tag/shared/policy.json", "[]")),
		row("whole packages removed", `vanished "shared/policy.json"`, drop(modules+".cotter/tree")),
		row("configuration added to the whole package", `added "evil.tf"`, intoWhole),
		row("a module of the whole package changed", `changed "modules/other/main.tf"`, edit(modules+"tag/modules/other/main.tf", "other", "evil")),
	})
}
