package hostile_test

import (
	"bytes"
	"fmt"
	"strings"
)

func tarTypes(yield func(class, name string, bytes []byte) bool) bool {
	for flag := range 256 {
		if strings.ContainsRune("\x000125xgLK", rune(flag)) {
			continue
		}
		entry := tarRaw(tarHeader{name: "a", link: "ok", flag: byte(flag)}, "")
		if !yield("tar/type", fmt.Sprintf("%q", byte(flag)), tarGzip(tarFile("ok", "1"), entry)) {
			return false
		}
	}
	for _, mode := range []string{"0000000", "0004755", "0002755", "0001777", "0000666", "0007777"} {
		entry := tarRaw(tarHeader{name: "a", flag: '0', mode: mode + "\x00"}, "1")
		if !yield("archive/permissions", "tar "+mode, tarGzip(entry)) {
			return false
		}
	}
	return true
}

func tarFields(yield func(class, name string, bytes []byte) bool) bool {
	sizes := map[string]string{
		"negative":        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe",
		"negative octal":  "-0000000001\x00",
		"2^63-1":          "\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff",
		"over 64 bits":    "\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
		"8 GiB":           "77777777777\x00",
		"not octal":       "0000000009z\x00",
		"hexadecimal":     "0x000000001\x00",
		"more than there": "00000002000\x00",
	}
	for name, size := range sizes {
		if !yield("tar/size", name, tarGzip(tarRaw(tarHeader{name: "a", flag: '0', size: size}, "1"))) {
			return false
		}
	}
	for _, flag := range []byte{'5', '2'} {
		entry := tarRaw(tarHeader{name: "d", link: "a", flag: flag}, strings.Repeat("x", tarBlock))
		if !yield("tar/size", fmt.Sprintf("of type %q", flag), tarGzip(tarFile("a", "1"), entry)) {
			return false
		}
	}
	for _, prefix := range []string{"..", "../..", "/etc", "a/..", "a//b", ".git"} {
		if !yield("tar/prefix", label(prefix), tarGzip(tarRaw(tarHeader{name: "x", prefix: prefix, flag: '0'}, "1"))) {
			return false
		}
	}
	for _, root := range []string{".", "./"} {
		for _, flag := range []byte{'0', '2'} {
			if root == "./" && flag == '0' {
				continue // a directory to old programs
			}
			if !yield("name/component", fmt.Sprintf("%s of type %q", root, flag), tarGzip(tarFile("a", "1"), tarRaw(tarHeader{name: root, link: "a", flag: flag}, ""))) {
				return false
			}
		}
	}
	for _, sum := range []string{"000000\x00 ", "777777\x00 ", "xxxxxxxx", "-00001\x00 "} {
		if !yield("tar/checksum", label(sum), tarGzip(tarRaw(tarHeader{name: "a", flag: '0', sum: sum}, "1"))) {
			return false
		}
	}
	good := tarOf(tarFile("main.tf", "# text\n"))
	for at := 0; at < tarBlock; at += 4 {
		if at >= 148 && at < 156 {
			continue // the digits of the checksum itself
		}
		if !yield("tar/checksum", fmt.Sprintf("byte %d", at), gzipped(flipped(good, at, 1))) {
			return false
		}
	}
	return true
}

func tarExtensions(yield func(class, name string, bytes []byte) bool) bool {
	records := []string{
		"size=0", "size=1", "size=-1", "size=99999999999999999999", "GNU.sparse.major=1", "GNU.sparse.map=0,1", "GNU.sparse.name=../x",
		"GNU.sparse.realsize=1000000000", "GNU.sparse.numblocks=-1", "hdrcharset=ISO-IR 8859 1 1998", "unknown=1", "path=a\x00b", "path=", "linkpath=\x00", "uid=x", "mtime=x", "=x", "uname=\x00",
	}
	for _, record := range records {
		if !yield("tar/extension", label(record), tarGzip(tarFile("ok", "1"), tarPAX('x', record), tarFile("a", "1"))) {
			return false
		}
	}
	for _, record := range []string{"path=../x", "path=x", "linkpath=/etc", "size=5", "GNU.sparse.major=1", "hdrcharset=ISO-IR 8859 1 1998"} {
		if !yield("tar/extension", "global "+label(record), tarGzip(tarPAX('g', record), tarFile("a", "1"))) {
			return false
		}
	}
	a := tarFile("a", "1")
	many := func(n int, entry []byte) []byte { return bytes.Repeat(entry, n) }
	refused := map[string][]byte{
		"two names":            tarGzip(tarGNU('L', "b"), tarPAX('x', "path=c"), a),
		"two names, reversed":  tarGzip(tarPAX('x', "path=c"), tarGNU('L', "b"), a),
		"a record of 10 MiB":   tarGzip(tarPAX('x', "comment="+strings.Repeat("x", 10<<20)), a),
		"two targets":          tarGzip(a, tarPAX('x', "linkpath=./a"), tarGNU('K', "a"), tarLink("l", "a")),
		"17 globals":           tarGzip(many(17, tarPAX('g', "comment=x")), a),
		"malformed global":     tarGzip(tarRaw(tarHeader{name: "pax", flag: 'g'}, "12345"), a),
		"a header at the end":  gzipped(tarOf(a, tarPAX('x', "path=b"))),
		"malformed length":     tarGzip(tarRaw(tarHeader{name: "pax", flag: 'x'}, "99 path=b\n"), a),
		"length without end":   tarGzip(tarRaw(tarHeader{name: "pax", flag: 'x'}, "9999999999999999999999"), a),
		"negative length":      tarGzip(tarRaw(tarHeader{name: "pax", flag: 'x'}, "-1 path=b\n"), a),
		"GNU sparse":           tarGzip(tarRaw(tarHeader{name: "s", flag: 'S', magic: "ustar  \x00"}, "1")),
		"GNU name of 2 MiB":    tarGzip(tarGNU('L', strings.Repeat("x", 2<<20)), a),
		"GNU names without 40": tarGzip(many(4000, tarGNU('L', "b")), a),
	}
	for name, archive := range refused {
		if !yield("tar/extension", name, archive) {
			return false
		}
	}
	good := map[string][]byte{
		"git's comment":  tarGzip(tarPAX('g', "comment=0123456789012345678901234567890123456789"), a),
		"times":          tarGzip(tarPAX('x', "mtime=1.5", "atime=2", "LIBARCHIVE.xattr.user.x=eA"), a),
		"long names":     tarGzip(tarGNU('L', strings.Repeat("n", 200)), a),
		"names of bytes": tarGzip(tarPAX('x', "hdrcharset=BINARY", "path=b"), a),
		"the root":       tarGzip(tarDir("./"), tarFile("./a", "1")),
	}
	for name, archive := range good {
		if !yield("archive/good", name, archive) {
			return false
		}
	}
	return true
}

func gzipMembers(yield func(class, name string, bytes []byte) bool) bool {
	plain := tarOf(tarFile("a", "1"))
	good := gzipped(plain)
	cases := map[string][]byte{
		"something behind":        append(bytes.Clone(good), "more"...),
		"zeros behind":            append(bytes.Clone(good), make([]byte, tarBlock)...),
		"a second member":         append(bytes.Clone(good), gzipped(tarOf(tarFile("b", "2")))...),
		"an empty second member":  append(bytes.Clone(good), gzipped(nil)...),
		"a tar file in two":       append(gzipped(plain[:tarBlock]), gzipped(plain[tarBlock:])...),
		"compressed twice":        gzipped(good),
		"data behind the tar end": gzipped(append(bytes.Clone(plain), "more"...)),
		"an entry behind the end": gzipped(append(bytes.Clone(plain), tarOf(tarFile("b", "2"))...)),
		"data long behind it":     gzipped(append(append(bytes.Clone(plain), make([]byte, 70_000)...), 'x')),
		"an empty block between":  tarGzip(tarFile("a", "1"), make([]byte, tarBlock), tarFile("b", "")),
		"no end but zeros":        gzipped(tarFile("a", strings.Repeat("\x00", 4*tarBlock))),
		"one empty block":         gzipped(plain[:len(plain)-tarBlock]),
		"no empty block":          gzipped(plain[:len(plain)-2*tarBlock]),
		"reserved flags":          flipped(good, 3, 0x80),
		"unknown method":          flipped(good, 2, 0x01),
		"no tar":                  gzipped([]byte("plain text, which is no tar file")),
		"nothing":                 gzipped(nil),
	}
	for name, archive := range cases {
		if !yield("gzip/members", name, archive) {
			return false
		}
	}
	for i := 1; i <= 8; i++ {
		for _, bits := range []byte{0x01, 0x80} {
			if !yield("gzip/members", fmt.Sprintf("trailer byte -%d ^ %#x", i, bits), flipped(good, len(good)-i, bits)) {
				return false
			}
		}
	}
	return yield("archive/good", "tar.gz", good) && yield("archive/empty", "tar.gz", gzipped(tarOf())) &&
		yield("archive/empty", "tar.gz of directories", tarGzip(tarDir("a"), tarDir("a/b")))
}
