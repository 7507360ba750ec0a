package hostile_test

import (
	"iter"
	"strings"
)

// Addresses yields source addresses that configuration could contain. Refused means that neither
// a server nor git sees any part of the address.
func Addresses() iter.Seq[Case[string]] {
	long := strings.Repeat("x", 100_000)
	return texts([]list{
		{"address/options", []string{
			"git::https://-oProxyCommand=id/x", "git::ssh://-oProxyCommand=id/x", "git::ssh://-oProxyCommand=id@h/x", "git::ssh://git@-oProxyCommand=id/x.git",
			"git::https://h/x?ref=--upload-pack=id", "git::https://h/x?ref=-", "git::https://h/x?ref=-c%20core.sshCommand=id", "git::https://h/x?ref=--",
			"git::https://h/--upload-pack=id", "git::ssh://git@h/-x", "git::https://h/-x/y", "git::https://h/x?ref=%2d%2dupload-pack%3did", "git@-oProxyCommand=id:x/y",
			"git::ssh://-Fconfig@h/x", "git::https://h/x?ref=-x//sub",
		}},
		{"address/transport", []string{
			"git::ext::sh -c id", "git::ext::sh", "git::ext::sh%20-c%20id", "git::fd::7", "git::foo::bar", "git::ext::https://h/x", "git::git::https://h/x", "git::GIT::https://h/x",
			"ext::sh -c id", "fd::17", "git::s3::https://h/x", "git::git+ssh://h/x", "git::rsync://h/x", "git::ftp://h/x", "git::javascript:x", "git::data:x",
			"ssh://git@h/x.git", "ftp://h/x.zip", "gopher://h/x", "javascript:alert(1)", "data:text/plain,x", "ldap://h/x", "jar:https://h/x!/y", "about:blank",
			"oci::https://h/x", "unknown::https://h/x", "::https://h/x",
		}},
		{"address/authority", []string{
			"https://h:443:8/x.zip", "https://h:port/x.zip", "https:///x.zip", "https://[::1/x.zip", "https://h\\@evil/x.zip", "git::https:///x", "git::ssh:///x",
			"git::https:h/x", "https:h/x.zip", "oci:///x", "oci://u:p@h/x", "https://h /x.zip", "git::https://h", "git::https://h/", "https://%68%00/x.zip", "https://h:/x\x7f.zip",
			"oci://h", "oci://h/", "oci://h/UPPER", "oci://h/x:tag", "oci://h/x@sha256:0", "oci://h/../x", "oci://h/x?tag=a&tag=b", "oci://h/x?digest=md5:0", "oci://h/x?tag=",
			"oci://h/x?tag=../x", "oci://h/x?tag=a&digest=sha256:" + strings.Repeat("0", 64), "oci://h/x?archive=zip", "oci://h/x#f",
		}},
		{"address/subdir", []string{
			"https://h/x.zip//..", "https://h/x.zip//../y", "https://h/x.zip//a/../../y", "git::https://h/x//../../etc", "a/b/c//../..", "h.example/a/b/c//..",
			"git::https://h/x//a/../..?ref=v1", "oci://h/x//..", "oci://h/x//../../y", "git@github.com:a/b.git//../..", "github.com/a/b//../..",
		}},
		{"address/characters", []string{
			"https://h/x\n.zip", "https://h/x\x00.zip", "git::https://h/x\r\nHost: evil/y", "https://h/x\x1b[2J.zip", "\x00", "\x1b]52;c;eA==\x07", " https://h/x.zip",
			"git::https://h/x?ref=a b", "git::https://h/x?ref=a%00b", "git::https://h/x?ref=a%0ab", "git::https://h/x?ref=%1b[2J", "a\x00/b/c", "a\n/b/c", "%66ile:///etc/passwd",
			"git::https://h/%2e%2e/x", "https://h/a%2f..%2fx.zip", "https://h/a/../x.zip", "https://h/%252e%252e/x.zip", "https://h/a/..;/x.zip",
			"git::https://h/x%0ay", "git::https://h/x%00y", "https://h/%zz.zip", "git::https://h/x?ref=%zz", "git::https://h/x#v1",
		}},
		{"address/registry", []string{
			"a/b", "a/b/c/d/e", "-a/b/c", "a/-/c", "a/b/c-", "a/b/_c", "a//b/c", "xn--/a/b/c", "xn--zzzzzz-/a/b/c", "h:port/a/b/c", "h:99999/a/b/c", "xn--bcher-kva.example/a/b/c", "a/b/c/",
			"/a/b/c", long + "/b/c", "a/" + long + "/c", "a/b/" + long, "h..example/a/b/c", "-h.example/a/b/c", "h_.example/a/b/c", "192.168.0.1.example:1:2/a/b/c",
			"a/b/c?version=1", "a/b/c#x", "a@h/b/c/d", "https:a/b/c", "a/b/\u0441\u202e", "h.example/\u0430/b/c", "..", "C:", "~/x",
		}},
		{"address/query", []string{
			"git::https://h/x?ref=a..b", "git::https://h/x?ref=a.lock", "git::https://h/x?ref=@", "git::https://h/x?ref=a@{1}", "git::https://h/x?ref=v1^{}", "git::https://h/x?ref=a~1",
			"git::https://h/x?ref=a:b", "git::https://h/x?ref=*", "git::https://h/x?ref=/a", "git::https://h/x?ref=a//b", "git::https://h/x?ref=.a", "git::https://h/x?ref=" + strings.Repeat("x", 1025),
			"git::https://h/x?sshkey=%25%25%25", "git::https://h/x?sshkey=" + strings.Repeat("A", 65<<10), "git::https://h/x?a;b=c&%zz", "git::https://h/x?ref=a\\b", "git::https://h/x?ref=[x]",
			"https://h/x?checksum=md5:d41d8cd98f00b204e9800998ecf8427e", "https://h/x?archive=tar", "https://h/x.tar.xz", "https://h/x?archive=xz",
			"http://u:p@h/x.zip",
		}},
		{"address/checksum", checksums()},
		// These look like the ones above, but users may write them.
		{"address/good", []string{
			"git::https://h/x?ref=v1.0.0", "git::ssh://git@h/x.git", "git@h:x/y.git", "git::https://h/x//sub?ref=feature/x", "git::https://h/a//b//c", "https://h/x.zip", "https://h/x.zip//sub/..",
			"https://h/x?archive=tar.gz", "https://h/x", "github.com/a/b", "git::https://h/x?ref=" + strings.Repeat("a", 40), "git::https://h/x?ref=a%2fb", "https://h/x.zip?token=a%26b",
			"git::https://u:p@h/x", "https://u:p@h/x.zip", "https://h/a%2fb/x.zip", "https://h:8443/x.zip", "git::https://h/x?depth=x", "oci://h/x?tag=1.0.0",
			"git::http://h/x", "http://h/x.zip", "https://h/x.zip?checksum=file:https://h/sums",
			"https::https://h/x.zip", "oci://h/a//b/c/..//d",
		}},
		{"address/local", []string{"./a", "../a", "../", "./..", "./a/../../b", "../../../../../../x", "./-x", "./a b", "./\u00e9", "./.git"}},
		{"address/module", []string{"a/b/c", "h.example/a/b/c", "h.example:8443/a/b/c//sub", "h.:0/a/b/c", "b\u00fccher.example/a/b/c", "H.EXAMPLE/a/b/c", "192.0.2.1/a/b/c"}},
	})
}

// Locations yields the locations of packages that a server may answer with: in a redirect, in
// X-Terraform-Get, or as the location from a registry. Refused means that no further request is
// sent.
func Locations() iter.Seq[Case[string]] {
	return texts([]list{
		{"location/scheme", []string{
			"file:///etc/passwd", "FILE:///etc/passwd", "file://h/etc/passwd", "file:/etc/passwd", "file::/etc/passwd", "http://h.example/x.zip", "HTTP://h.example/x.zip",
			"ftp://h.example/x.zip", "gopher://h.example/x", "javascript:alert(1)", "data:application/zip;base64,UEsFBg==", "ldap://h.example/x", "ws://h.example/x", "tftp://h.example/x",
			"git://h.example/x.git", "ssh://git@h.example/x.git", "about:blank", "mailto:x@h.example", "jar:https://h.example/x.zip!/a", "unix:///run/x.sock", "smb://h.example/x", "nfs://h.example/x",
			"view-source:https://h.example/x", "chrome://settings", "dict://h.example:11211/stat", "://h.example", "https:", "https://", "https:///x.zip", "https:x.zip",
		}},
		{"location/getter", []string{
			"git::file:///srv/x.git", "git::/srv/x.git", "git::git://h.example/x.git", "git::http://h.example/x.git", "git::ext::sh -c id", "git::ext::sh", "git::fd::7",
			"git::git::https://h.example/x.git", "git::s3::https://h.example/x", "git::ssh:///x.git", "git::https:///x.git", "GIT::https://h.example/x.git", "Git::file:///x",
			"hg::https://h.example/x", "hg::file:///x", "s3::http://169.254.169.254/b/x",
			"file::file:///etc", "http::http://h.example/x.zip", "oci::https://h.example/x", "unknown::https://h.example/x", "git::-oProxyCommand=id",
			"git::https://0.0.0.0/net.git", "git::ssh://git@127.0.0.1/net.git", "oci://localhost/net", "oci:///x", "oci:x",
			"git::git+ssh://h.example/x.git", "git::https:x.git", "s3::https://127.0.0.1:9000/b/x.zip", "s3::https://169.254.169.254/b/x.zip", "s3::http://h.example/b/x.zip", "s3::https:///b/x.zip",
			"s3::ssh://s3.amazonaws.com/b/x.zip", "s3::https://x.ec2.amazonaws.com/b/x.zip", "gcs::http://127.0.0.1/storage/v1/b/x.zip", "https::file:///etc/x.zip", "https::http://h.example/x.zip",
			"http::https://h.example/x.zip", "ext::sh -c id",
		}},
		{"location/unfit", []string{
			"git::https://h.example/-x", "git::ssh://-oProxyCommand=id@h.example/x", "s3::https://s3.amazonaws.com/b/x.zip", "gcs::https://www.googleapis.com/storage/v1/b/x.zip",
		}},
		{"location/machine", []string{
			"https://127.0.0.1/x.zip", "https://localhost/x.zip", "https://169.254.169.254/x.zip", "https://[fd00:ec2::254]/x.zip", "https://[fe80::1]/x.zip", "https://2130706433/x.zip",
			"https://0.0.0.0/x.zip", "https://[::1]:8443/x.zip",
		}},
		{"location/address", []string{
			"acme/net/aws", "h.example/acme/net/aws", "acme/net/aws//sub", "s3.amazonaws.com/b/x.zip", "x.zip", "C:\\x", "\\\\server\\share",
			"https://h.example/x.zip//../y", "%66ile:///etc/passwd", ".", "..", "C:x", "https://h.example/x\n.zip", "https://h.example/x\x00.zip", " https://h.example/x.zip", "https://h.example/x.zip\x1b[2J", "git::", "::", "\x00", "?", "#", "https://h h/x",
			"https://[::1/x.zip", "https://h.example:port/x.zip", "https://h.example/" + strings.Repeat("x", 9<<10), "https://h.example/x.zip//" + strings.Repeat("../", 1000),
		}},
	})
}

// checksums returns addresses of an existing archive with a wrong checksum.
func checksums() []string {
	var all []string
	for _, checksum := range []string{
		"sha256:00", "md5:zz", "crc32:00000000", "file:/etc/passwd", "file:file:///etc/passwd", "file:http://h/sums", "file:sums", "file:", "sha256:", ":", "x", "00",
		"sha256:" + strings.Repeat("0", 64), "md5:" + strings.Repeat("0", 32), strings.Repeat("0", 40), "sha512:" + strings.Repeat("0", 64), "SHA256:" + strings.Repeat("0", 64),
		"file:git::https://h/sums", "file:ftp://h/sums", "sha256:" + strings.Repeat("z", 64), strings.Repeat("x", 10_000), "%1b[2J", "file:https://h/nothing",
	} {
		all = append(all, "https://h/good.zip?checksum="+checksum)
	}
	return all
}
