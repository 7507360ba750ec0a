package hostile_test

import (
	"fmt"
	"strings"
)

// hostileNames returns names that no tree may have, by class. outside is an absolute directory in
// which nothing may appear.
func hostileNames(outside string) []list {
	return []list{
		{"name/traversal", []string{
			"..", "../x", "../../x", "../../../../../../../../../../tmp/x", "a/../x", "a/../../x", "a/b/../../../x", "./../x", "../sentinel/x", "a/..",
		}},
		{"name/absolute", []string{"/x", "//x", "///x", "/etc/passwd", outside + "/x", "/" + outside + "/x"}},
		{"name/backslash", []string{
			`..\x`, `\x`, `\\?\C:\x`, `\\server\share\x`, `\\.\pipe\x`, `a/..\..\x`, `a\..\..\x`, `a\..`, `a\.\x`, `a\`, `a\\x`, `C:\..\x`,
		}},
		{"name/component", []string{"a//x", "a/./x", "././x", ".//x", "a/.", "./a/./x"}},
		{"name/line", []string{"a\nb", "\n", "a\n", "a\r\nInstalled", "d\n/x", "a\x00b", "\x00", "\xfe\xff\x00a"}},
		{"name/long", []string{
			strings.Repeat("n", 256), strings.Repeat("n", 300), strings.Repeat("ä", 128), strings.Repeat("long/", 205) + "x", strings.Repeat("a/", 2500),
			strings.Repeat("component/", 499) + "x", strings.Repeat("d/", 64) + "x", strings.Repeat("d/", 511) + "x", strings.Repeat("n", 255) + "/" + strings.Repeat("n", 300),
		}},
		{"name/vcs", []string{
			".git", ".git/config", ".git/hooks/post-checkout", "a/.git/config", "a/b/.git", ".GIT/config", ".Git", ".gIt/HEAD", ".g\u200cit/config",
			".g\u200dit/config", ".\u200dgit", "git~1", "GIT~1/config", ".git /config", ".git./config", ".git. . ", ".git::$INDEX_ALLOCATION/config",
			".git:stream", ".hg/hgrc", ".HG", "hg~1", ".svn/entries", ".SVN", "SVN~1", ".g\u206ait", ".\u017fvn", ".bzr/x", ".Bzr", ".bzr.",
			`.git\config`, `a\.git\hooks\x`, `a/b\.GIT`, `git~1\config`, `a\.g` + "\u200cit\\x", `a\.git::$INDEX_ALLOCATION`, `.hg\hgrc`, `x\.svn`,
		}},
	}
}

// disguisedNames are stored everywhere, and are not what people see.
func disguisedNames() []string {
	names := []string{
		"\u202ea", "a\u202a", "a\u202b", "a\u202c", "a\u202d", "a\u2066", "a\u2067", "a\u2068", "a\u2069", "a\u200e", "a\u200f",
		"a\u061c", "a\u2028b", "a\u2029b", "\ufeffa", "a\ufeff.tf", "main.tf\u202eexe",
	}
	for r := rune(0x7f); r < 0xa0; r++ {
		names = append(names, "a"+string(r)+"b")
	}
	return names
}

func unportableNames() []string {
	names := []string{
		"CON", "con", "con.tf", "Aux.tf", "PRN", "NUL", "nul.tar.gz", "CONIN$", "CONOUT$", "COM0", "COM1", "com9.tf", "COM¹", "LPT1", "lpt2 .txt",
		"LPT³", "dir/CON/x", "a.", "a ", "a. ", "main.tf.", "dir./x", "dir /x", "x:y", "a<b", "a>b", `a"b`, "a|b", "a?b", "a*b", "C:x", "C:/x", "main.tf::$DATA",
		`a\x`, `C:\x`, `C:\Windows\x`, `run-x\x2dy.mount`, "Icon\r", "a\x1b[2Jb", "\x1b]52;c;YQ==\x07", "\r",
		"\xff", "a\xffb", "a\xc3", "\xc0\xae\xc0\xae/x", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "a\x80", "caf\xe9",
	}
	for r := rune(1); r < ' '; r++ {
		if r != '\n' {
			names = append(names, "a"+string(r)+"b")
		}
	}
	return names
}

func clashes() [][2]string {
	return [][2]string{
		{"main.tf", "MAIN.TF"}, {"a", "A"}, {"dir/x", "DIR/y"}, {"dir/x", "dir/X"}, {"\u00e9", "e\u0301"}, {"\u00c9", "e\u0301"}, {"\u00df", "ss"},
		{"\u017f", "s"}, {"\u212a", "k"}, {"\u03c3", "\u03c2"}, {"\ufb01", "fi"}, {"\u00e5", "\u212b"}, {"d/\u1e9b\u0323", "d/\u017f\u0323\u0307"}, {"Dir", "dir/x"},
	}
}

func plainNames() []string {
	return []string{
		"-", "--help", "-rf", "~", "~root", "$HOME", "${x}", "`id`", "a;b", "a&b", "'", "%2e%2e", "%2f", "...", ".terraform.lock.hcl", ".terraform/modules/modules.json",
		".gitignore", ".gitmodules", ".gitattributes", "git", ".github/x", "a b", "ä/ö", "日本語", "e\u0301", "a\u200bb", "a\u200db", "\U0001f600", "PROGRA~1",
		"CONFIG", "COM10", "console.tf", strings.Repeat("n", 255), strings.Repeat("d/", 63) + "x", ".terragrunt-module-manifest", "override.tf", "terraform.tfvars",
	}
}

func hostileTargets(outside string) []list {
	return []list{
		{"link/absolute", []string{"/", "/etc/passwd", "/dev/zero", "/proc/self/root", outside, outside + "/x", "//", "/d/x"}},
		{"link/outside", []string{
			"../..", "../../x", "../../../../etc/passwd", "../../package/a", "../../package", "../../sentinel", strings.Repeat("../", 100) + "etc/passwd", "../../../.",
		}},
		{"link/dangling", []string{"nothing", "../nothing", "../a/x", "../a/", "../d/nothing/x", "x"}},
		{"link/loop", []string{"l", "./l", "../d/l", "l/x", "../d/l/../l"}},
		{"link/unclean", []string{
			"../d/../../x", "../d/../a", "..//a", "a//", "", "../a\x00", "../a\n", "\u202e../a", "\xff", `..\a`, `..\..\x`, `C:\x`, "../a\x1b[2J",
			strings.Repeat("x", 1025), strings.Repeat("./", 600) + "x",
		}},
	}
}

func plainTargets() []string {
	return []string{"../a", "./../a", "b", "./b", "..", ".", "../d", "../d/b", "../d/", "./"}
}

func label(text string) string {
	if len(text) > 60 {
		text = fmt.Sprintf("%s...(%d bytes)", text[:40], len(text))
	}
	return fmt.Sprintf("%+q", text)
}
