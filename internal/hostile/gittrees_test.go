package hostile_test

import (
	"fmt"
	"iter"
	"strings"
)

type TreeEntry struct {
	Mode, Name string
	Text       string
	Tree       []TreeEntry // for the mode of a directory
	// ID replaces the object id that follows from Text or Tree. "" means that it is not replaced.
	ID string
}

const (
	gitFile = "100644"
	gitExec = "100755"
	gitLink = "120000"
	gitDir  = "40000"
	gitLeaf = "160000"
)

func file(name string) TreeEntry { return TreeEntry{Mode: gitFile, Name: name, Text: "1"} }
func dir(name string, entries ...TreeEntry) TreeEntry {
	return TreeEntry{Mode: gitDir, Name: name, Tree: entries}
}
func link(name, target string) TreeEntry {
	return TreeEntry{Mode: gitLink, Name: name, Text: target}
}

// Trees yields the trees of commits. outside is an absolute directory in which nothing may
// appear.
func Trees(outside string) iter.Seq[Case[[]TreeEntry]] {
	return func(yield func(Case[[]TreeEntry]) bool) {
		give := func(class, name string, entries ...TreeEntry) bool {
			return yield(Case[[]TreeEntry]{class, name, entries})
		}
		_ = treeNames(give) && treeModes(give) && treeLinks(outside, give) && treeTwice(give) && treeDepth(give)
	}
}

type giveTree func(class, name string, entries ...TreeEntry) bool

func treeNames(give giveTree) bool {
	classes := []list{
		{"tree/name", []string{
			"", ".", "..", "a/b", "../x", "/x", "/etc/passwd", "a/../b", "a/", "/", `..\x`, `\x`, `a\..\b`, "a\nb", "a\r\n", strings.Repeat("n", 256), strings.Repeat("n", 5000),
		}},
		// Git itself refuses to write version control data in a tree.
		{"tree/vcs", []string{".git", ".GIT", ".Git", "git~1", "GIT~1", ".g\u200cit", ".git ", ".git.", ".git::$INDEX_ALLOCATION", ".git:x", ".hg", ".svn", ".bzr", `.git\config`, `a\.GIT`, `x\git~1\config`}},
		{"tree/unportable", []string{"CON", "aux.tf", "a.", "a ", "a:b", "a*", "a?", "a|b", "<", `"`, "COM¹", `a\b`, `C:\x`, `run-x\x2dy.mount`, "a\rb", "Icon\r", "a\tb", "a\x1b[2J", "\xff", "\xc0\xae", "caf\xe9"}},
		{"tree/disguised", []string{"a\x7f", "a\u0085", "\u202ea", "\ufeff", "a\u2028"}},
		{"tree/plain", []string{"-", "--help", "~", "$HOME", ".gitmodules", ".gitattributes", ".terraform", "...", "\u00e9", "e\u0301", strings.Repeat("n", 255), "a\u200bb"}},
	}
	for _, l := range classes {
		for _, name := range l.texts {
			if !give(l.class, "file "+label(name), file("ok"), file(name)) || !give(l.class, "dir "+label(name), dir(name, file("x")), file("ok")) {
				return false
			}
		}
	}
	return true
}

func treeModes(give giveTree) bool {
	for _, mode := range []string{"0", "000000", "10644", "020000", "060000", "010000", "140000", "1", "777", "170000", "110000", "130000", "150000", "777777", "37777777777"} {
		if !give("tree/mode", mode, file("ok"), TreeEntry{Mode: mode, Name: "x", Text: "1"}) {
			return false
		}
	}
	for _, mode := range []string{"x", "-100644", "8", "0x81a4", "", "100644.", "99999999999999999999"} {
		if !give("tree/malformed", "mode "+label(mode), file("ok"), TreeEntry{Mode: mode, Name: "x", Text: "1"}) {
			return false
		}
	}
	for _, mode := range []string{gitFile, gitExec, "100664", "100600", "100777", "104755"} {
		if !give("tree/plain", "mode "+mode, file("ok"), TreeEntry{Mode: mode, Name: "x", Text: "1"}) {
			return false
		}
	}
	absent := strings.Repeat("1", 40)
	return give("tree/malformed", "file is a tree", file("ok"), TreeEntry{Mode: gitFile, Name: "x", Tree: []TreeEntry{file("y")}}) &&
		give("tree/malformed", "directory is a file", file("ok"), TreeEntry{Mode: gitDir, Name: "x", Text: "1"}) &&
		give("tree/malformed", "file is absent", file("ok"), TreeEntry{Mode: gitFile, Name: "x", ID: absent}) &&
		give("tree/malformed", "directory is absent", file("ok"), TreeEntry{Mode: gitDir, Name: "x", ID: absent}) &&
		give("tree/plain", "submodule", file("ok"), TreeEntry{Mode: gitLeaf, Name: "x", ID: absent})
}

func treeLinks(outside string, give giveTree) bool {
	for _, l := range append(hostileTargets(outside), list{"link/inside", plainTargets()}) {
		for _, target := range l.texts {
			if strings.Contains(target, "\x00") {
				continue // git ends the target there
			}
			if !give(l.class, "git "+label(target), file("a"), dir("d", file("b"), link("l", target))) {
				return false
			}
		}
	}
	return give("link/through", "git link and directory", link("d", outside), dir("d", file("x"))) &&
		give("link/through", "git directory and link", dir("d", file("x")), link("d", outside)) &&
		give("link/through", "git link and file", link("x", outside+"/x"), file("x")) &&
		give("link/chain", "git case", link("D", outside), dir("d", file("x")))
}

func treeTwice(give giveTree) bool {
	pairs := map[string][2]TreeEntry{
		"file, file": {file("x"), file("x")}, "file, dir": {file("x"), dir("x", file("y"))}, "dir, file": {dir("x", file("y")), file("x")}, "dir, dir": {dir("x", file("y")), dir("x", file("z"))},
		"same dir": {dir("x", file("y")), dir("x", file("y"))}, "file, link": {file("x"), link("x", "ok")}, "link, file": {link("x", "ok"), file("x")}, "file, submodule": {file("x"), {Mode: gitLeaf, Name: "x", ID: strings.Repeat("1", 40)}},
	}
	for name, pair := range pairs {
		if !give("tree/duplicate", name, file("ok"), pair[0], pair[1]) {
			return false
		}
	}
	for _, pair := range clashes() {
		if strings.Contains(pair[0]+pair[1], "/") {
			continue
		}
		if !give("clash", "git "+label(pair[0])+" and "+label(pair[1]), file(pair[0]), file(pair[1])) {
			return false
		}
	}
	return give("tree/plain", "unsorted", file("z"), file("ok"), file("a"))
}

func treeDepth(give giveTree) bool {
	deep := func(n int) TreeEntry {
		entry := file("x")
		for range n {
			entry = dir("d", entry)
		}
		return entry
	}
	wide := file("x")
	for range 6 { // 10^6 files out of 7 objects
		var same []TreeEntry
		for i := range 10 {
			e := wide
			e.Name = fmt.Sprintf("n%d", i)
			same = append(same, e)
		}
		wide = dir("d", same...)
	}
	return give("tree/size", "a long link", link("l", strings.Repeat("a/", 9999)), file("ok")) && give("tree/size", "deeper than a tree may be", deep(64)) && give("tree/size", "deep", deep(300)) && give("tree/size", "wide", wide) &&
		give("tree/plain", "as deep as a tree may be", deep(63)) && give("tree/empty", "no entries") && give("tree/empty", "no files", dir("d"), dir("e", dir("f")))
}
