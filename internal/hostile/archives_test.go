package hostile_test

import (
	"fmt"
	"iter"
	"strings"
)

// Archive is an archive to unpack.
type Archive struct {
	Bytes []byte
	// MaxEntries, MaxBytes and MaxFile are limits to set. 0 means the default.
	MaxEntries        int
	MaxBytes, MaxFile int64
}

// Archives yields archives in all formats. outside is an absolute directory in which nothing may
// appear.
func Archives(outside string) iter.Seq[Case[Archive]] {
	generators := []func(yield func(class, name string, bytes []byte) bool) bool{
		zipDisagreements,
		func(y func(string, string, []byte) bool) bool { return names(outside, y) },
		func(y func(string, string, []byte) bool) bool { return links(outside, y) },
		through(outside),
		pairs,
		zipKinds,
		zipEnds,
		tarTypes,
		tarFields,
		tarExtensions,
		gzipMembers,
		notArchives,
	}
	return func(yield func(Case[Archive]) bool) {
		for _, generate := range generators {
			if !generate(func(class, name string, bytes []byte) bool {
				return yield(Case[Archive]{class, name, Archive{Bytes: bytes}})
			}) {
				return
			}
		}
		bombs(yield)
	}
}

// container makes an archive with a good file "ok" and an entry with any name. It returns nil if
// its format does not support that name.
type container struct {
	name string
	pack func(name string) []byte
}

func containers() []container {
	ok := tarFile("ok", "1")
	short := func(name string) bool { return len(name) <= 100 && !strings.Contains(name, "\x00") && name != "" }
	return []container{
		{"zip file", func(n string) []byte { return zipOf(zipFile("ok", "1"), zipFile(n, "")) }},
		{"zip dir", func(n string) []byte { return zipOf(zipFile("ok", "1"), zipDir(strings.TrimSuffix(n, "/"))) }},
		{"zip link", func(n string) []byte { return zipOf(zipFile("ok", "1"), zipLink(n, fromBelow(n))) }},
		{"tar file", func(n string) []byte {
			if !short(n) {
				return nil
			}
			return tarGzip(ok, tarFile(n, ""))
		}},
		{"tar dir", func(n string) []byte {
			if !short(n) {
				return nil
			}
			return tarGzip(ok, tarDir(n))
		}},
		{"PAX file", func(n string) []byte { return tarGzip(ok, tarPAX('x', "path="+n), tarFile("x", "")) }},
		{"PAX link", func(n string) []byte {
			return tarGzip(ok, tarPAX('x', "path="+n, "linkpath="+fromBelow(n)), tarLink("x", "x"))
		}},
		{"GNU file", func(n string) []byte {
			if strings.Contains(n, "\x00") {
				return nil // a NUL byte ends the name
			}
			return tarGzip(ok, tarGNU('L', n), tarFile("x", ""))
		}},
	}
}

func fromBelow(name string) string {
	return strings.Repeat("../", strings.Count(strings.TrimSuffix(name, "/"), "/")) + "ok"
}

func names(outside string, yield func(class, name string, bytes []byte) bool) bool {
	lists := append(hostileNames(outside), list{"name/unportable", unportableNames()}, list{"name/disguised", disguisedNames()}, list{"name/plain", plainNames()})
	for _, l := range lists {
		for _, text := range l.texts {
			for _, c := range containers() {
				if archive := c.pack(text); archive != nil && !yield(l.class, c.name+" "+label(text), archive) {
					return false
				}
			}
		}
	}
	return true
}

// links yields links with all kinds of targets, and hard links, which are refused unless they are to an
// earlier file.
func links(outside string, yield func(class, name string, bytes []byte) bool) bool {
	for _, l := range append(hostileTargets(outside), list{"link/inside", plainTargets()}) {
		for _, target := range l.texts {
			zip := zipOf(zipFile("a", "1"), zipFile("d/b", "2"), zipLink("d/l", target))
			pax := tarGzip(tarFile("a", "1"), tarFile("d/b", "2"), tarPAX('x', "linkpath="+target), tarLink("d/l", "x"))
			hard := tarGzip(tarFile("a", "1"), tarPAX('x', "linkpath="+target), tarRaw(tarHeader{name: "d/l", link: "x", flag: '1'}, ""))
			tarClass := l.class
			if target == "" || strings.Contains(target, "\x00") {
				tarClass = "tar/extension" // the extended header cannot contain it
			}
			if !yield(l.class, "zip "+label(target), zip) || !yield(tarClass, "tar "+label(target), pax) ||
				!yield("link/hard", label(target), hard) {
				return false
			}
		}
	}
	for _, target := range []string{"a", "./a", "d/b"} {
		hard := tarGzip(tarFile("a", "1"), tarFile("d/b", "2"), tarRaw(tarHeader{name: "d/l", link: target, flag: '1'}, ""))
		if !yield("link/earlier", label(target), hard) {
			return false
		}
	}
	// A chain that is as long as the kernel allows, and a longer one.
	for class, length := range map[string]int{"link/inside": 40, "link/loop": 41} {
		if !yield(class, fmt.Sprintf("chain of %d", length), chain(length)) {
			return false
		}
	}
	return true
}

func chain(length int) []byte {
	entries := [][]byte{tarFile("l0", "1")}
	for i := range length {
		entries = append(entries, tarLink(fmt.Sprintf("l%d", i+1), fmt.Sprintf("l%d", i)))
	}
	return tarGzip(entries...)
}

// through yields the sets of entries with which archives have written to other places through
// links. Entries with a target are links. In the last sets, nothing tries to write through the
// links.
func through(outside string) func(yield func(class, name string, bytes []byte) bool) bool {
	const chains = 2
	sets := [][][2]string{
		{{"d", outside}, {"d/x", ""}},
		{{"d", ".."}, {"d/x", ""}},
		{{"d/x", ""}, {"d", outside}},
		{{"x", outside + "/x"}, {"x", ""}},
		{{"x", ""}, {"x", outside + "/x"}},
		{{"a", "b"}, {"b", outside}, {"a/x", ""}},
		{{"a", "."}, {"a/b", ".."}, {"a/b/x", ""}},
		{{"d", outside}, {"d/", ""}},
		{{"d", "e"}, {"e/y", ""}, {"d/x", ""}},
		{{"e/y", ""}, {"d", "e"}, {"d/x", ""}},
		{{"a", "b"}, {"b", "a"}, {"a/x", ""}},
		{{"d/e", "../.."}, {"d/e/x", ""}, {"y", ""}},
		{{"x", "y"}, {"y", outside + "/x"}, {"z", ""}},
		{{"a/b", "c"}, {"a/c", "../.."}, {"z", ""}},
	}
	return func(yield func(class, name string, bytes []byte) bool) bool {
		for i, set := range sets {
			var zip []zipEntry
			var tar [][]byte
			for _, e := range set {
				switch name, target := e[0], e[1]; {
				case target != "":
					zip, tar = append(zip, zipLink(name, target)), append(tar, tarPAX('x', "linkpath="+target), tarLink(name, "x"))
				case strings.HasSuffix(name, "/"):
					zip, tar = append(zip, zipDir(name[:len(name)-1])), append(tar, tarDir(name))
				default:
					zip, tar = append(zip, zipFile(name, "1")), append(tar, tarFile(name, "1"))
				}
			}
			class := "link/through"
			if i >= len(sets)-chains {
				class = "link/chain"
			}
			if !yield(class, fmt.Sprintf("zip %d", i), zipOf(zip...)) || !yield(class, fmt.Sprintf("tar %d", i), tarGzip(tar...)) {
				return false
			}
		}
		return true
	}
}

func pairs(yield func(class, name string, bytes []byte) bool) bool {
	kinds := map[string][2]func(string) ([]byte, zipEntry){"file, file": {fileEntry, fileEntry}, "file, link": {fileEntry, linkEntry},
		"link, file": {linkEntry, fileEntry}, "link, link": {linkEntry, linkEntry}, "file, below": {fileEntry, belowEntry}, "below, file": {belowEntry, fileEntry},
		"below, link": {belowEntry, linkEntry}, "link, below": {linkEntry, belowEntry}}
	for what, kind := range kinds {
		tarA, zipA := kind[0]("x")
		tarB, zipB := kind[1]("x")
		if !yield("duplicate", "tar "+what, tarGzip(tarFile("ok", ""), tarA, tarB)) || !yield("duplicate", "zip "+what, zipOf(zipFile("ok", ""), zipA, zipB)) {
			return false
		}
	}
	for _, pair := range clashes() {
		name := label(pair[0]) + " and " + label(pair[1])
		if !yield("clash", "tar "+name, tarGzip(tarFile(pair[0], ""), tarFile(pair[1], ""))) ||
			!yield("clash", "zip "+name, zipOf(zipFile(pair[0], ""), zipFile(pair[1], ""))) {
			return false
		}
	}
	return true
}

func fileEntry(name string) ([]byte, zipEntry) { return tarFile(name, "1"), zipFile(name, "1") }
func linkEntry(name string) ([]byte, zipEntry) { return tarLink(name, "ok"), zipLink(name, "ok") }
func belowEntry(name string) ([]byte, zipEntry) {
	return tarFile(name+"/y", "1"), zipFile(name+"/y", "1")
}
