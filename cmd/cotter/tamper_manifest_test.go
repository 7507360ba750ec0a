package main

import (
	"path/filepath"
	"testing"
)

// TestTamperManifest changes modules.json and the links to whole packages, which point to
// the installed files. Stock tools follow both.
func TestTamperManifest(t *testing.T) {
	t.Parallel()
	const manifest = modules + "modules.json"
	row := func(name string, status int, says string, do ...step) tampering {
		return tampering{name: name, do: all(do...), want: outcomes{locked: healed(), verify: found(status, says, "Run `cotter install`")}}
	}
	intoWhole := func(t *testing.T, s *scene) {
		whole := filepath.Dir(filepath.Dir(s.path(t, modules+".cotter/tree/*/shared/policy.json")))
		writeText(t, filepath.Join(whole, "evil.tf"), "# evil\n")
	}
	testTampering(t, newSite(t, "go", "app", "net", "tag", "tgz", "zip"), []tampering{
		row("directory outside", 1, `module net (main.tf:5): modules.json does not match the lock: it points to "evil" instead of ".terraform/modules/net"`,
			edit(manifest, `"Dir":".terraform/modules/net"`, `"Dir":"evil"`)),
		row("directory above", 1, `it points to "../evil"`,
			edit(manifest, `"Dir":".terraform/modules/net"`, `"Dir":"../evil"`)),
		row("absolute directory", 1, `it points to "/etc"`,
			edit(manifest, `"Dir":".terraform/modules/net"`, `"Dir":"/etc"`)),
		row("directory of another call", 1, `module zip (main.tf`,
			edit(manifest, `"Dir":".terraform/modules/zip"`, `"Dir":".terraform/modules/tgz"`)),
		row("directory of another module of the package", 1, `it points to ".terraform/modules/tag/modules/other" instead of`,
			edit(manifest, `"Dir":".terraform/modules/tag/modules/dns"`, `"Dir":".terraform/modules/tag/modules/other"`)),
		row("directory of a local module", 1, `module app (main.tf:2): modules.json does not match the lock: it points to "evil"`,
			edit(manifest, `"Dir":"app"`, `"Dir":"evil"`)),
		row("directory of a local module in a package", 1, `module net.a`,
			edit(manifest, `"Dir":".terraform/modules/net/modules/a"`, `"Dir":"evil"`)),
		row("source", 1, `module zip (main.tf:15): modules.json does not match the lock: it has the source`, edit(manifest, `HOST/archives/n.zip"`, `HOST/archives/m.zip"`)),
		row("source of a local module", 1, `it has the source "./evil"`, edit(manifest, `"Source":"./app"`, `"Source":"./evil"`)),
		row("version", 1, `it has the version "1.0.0", and the lock has "1.1.0"`, edit(manifest, `"Version":"1.1.0"`, `"Version":"1.0.0"`)),
		row("version gone", 1, `it has the version "", and the lock has "1.1.0"`, edit(manifest, `"Version":"1.1.0",`, ``)),
		row("record removed", 17, `module zip (main.tf:15): modules.json does not match the lock: it has no record of the module`, edit(manifest, `{"Key":"zip",`, `{"Key":"zip2",`)),
		row("no records", 1, `module zip (main.tf:15): modules.json does not match the lock: it has no record of the module`, put(manifest, `{"Modules":[]}`)),
		row("no manifest", 1, `modules.json does not match the lock: it is gone`, drop(manifest)),
		row("no JSON", 1, `modules.json does not match the lock: unexpected end of JSON`, put(manifest, `{"Modules":[`)),
		row("two records of a key", 1, `modules.json does not match the lock: record "zip": there are two records with this key`, edit(manifest, `{"Modules":[`, `{"Modules":[{"Key":"zip","Source":"./evil","Dir":"evil"},`)),
		row("record of no call", 16, `- evil: installed, but the lock has no entry for it`,
			edit(manifest, `{"Modules":[`, `{"Modules":[{"Key":"evil","Source":"git::https://HOST/git/plain.git","Dir":"evil"},`)),
		row("package directory is a link", 8, `zip is not a directory`, link(modules+"zip", "tgz")),
		row("package directory is a file", 8, `zip is not a directory`, drop(modules+"zip"), put(modules+"zip", "")),
		row("link to the whole package retargeted", 1, `vanished "shared/policy.json"`, link(modules+"tag/shared", "../../../app")),
		row("link to the whole package is a copy", 1, `changed "shared/policy.json"`, drop(modules+"tag/shared"), put(modules+"tag/shared/policy.json", "[]")),
		row("whole packages removed", 1, `vanished "shared/policy.json"`, drop(modules+".cotter/tree")),
		row("configuration added to the whole package", 1, `added "evil.tf"`, intoWhole),
		row("a module of the whole package changed", 1, `changed "modules/other/main.tf"`, edit(modules+"tag/modules/other/main.tf", "other", "evil")),
	})
}
