package addrs_test

import "strings"

// sourceCase has an input of a table that was made by running the stock parser. In rows with the
// comment "stricter", this package differs intentionally.
type sourceCase struct {
	row   int // in the table; 0 means none
	input string
	want  string
}

const (
	hint    = "error: maybe local"
	outside = "error: outside"
	// Prefixes of the Source strings of registry addresses.
	acme = "R registry.opentofu.org/acme/net/aws"
	reg  = "R reg.example.com/acme/net/aws"
)

var long64 = strings.Repeat("a", 64)

var localCases = []sourceCase{
	{1, "./mods/net", "L ./mods/net"},
	{2, "./", "L ./."},
	{3, "../", "L ./.."},
	{4, "./..", "L ./.."},
	{5, "../../", "L ../.."},
	{6, ".", hint},
	{7, "..", hint},
	{8, "./a//b", "L ./a/b"},
	{9, "./a/../../x/", "L ../x"},
	{10, `.\win\net`, "L ./win/net"},
	{11, `..\win\..\y`, "L ../y"},
	{12, "./a?ref=x", "L ./a?ref=x"},
	{13, "/abs/dir", "P file:///abs/dir"},
	{14, "/abs/dir/", "P file:///abs/dir/"},
	{15, "/abs/dir//inner", "P file:///abs/dir ; inner"},
	{16, "/abs/dir?x=y", "P file:///abs/dir?x=y"},
	{17, "/a//..", outside}, // stricter
	{13, "/a\tb", "P file:///a\tb"},
	{15, "/a\x00b//c", "P file:///a\x00b ; c"},
	{18, "///x", "error"},
	{19, "~/mods/net", hint},
	{20, "mods/net", hint},
	{20, "mods", hint},
}

var registryCases = []sourceCase{
	{21, "acme/net/aws", acme},
	{22, "acme/net/aws//modules/a/", acme + "//modules/a"},
	{23, "acme/net/aws//./modules/../m", acme + "//m"},
	{24, "acme/net/aws//../up", outside},
	{25, "acme/net/aws//..", outside}, // stricter
	{26, "acme/net/aws//m/..", acme + "//."},
	{27, "acme/net/aws///m", "R registry.opentofu.org/acme/net/aws///m"},
	{28, "acme/net/aws//m//n", acme + "//m/n"},
	{29, "acme/net/aws//*", acme + "//*"},
	{30, "acme/net/aws//", acme},
	{31, "acme/net/aws/", hint},
	{32, "acme/net/AWS", hint},
	{32, "acme/net/c-d", hint},
	{33, "acme/net/aws?x=1", hint},
	{33, "acme/net/aws//s?x=1", hint},
	{34, "Acme/Net_x/aws", "R registry.opentofu.org/Acme/Net_x/aws"},
	{35, "-acme/net/aws", hint},
	{35, "acme_/net/aws", hint},
	{35, "_a/b/c", hint},
	{35, "a/b./c", hint},
	{36, long64 + "/net/aws", "R registry.opentofu.org/" + long64 + "/net/aws"},
	{36, "acme/net/" + long64, "R registry.opentofu.org/acme/net/" + long64},
	{36, long64 + "a/net/aws", hint},
	{36, "acme/net/a" + long64, hint},
	{37, " acme/net/aws", hint},
	{37, "acme/net/aws ", hint},
	{38, "acme//net/aws", hint},
	{39, "a/b/c/d", hint},
	{39, "a/b/c/d/e", hint},
}

var hostCases = []sourceCase{
	{40, "Reg.EXAMPLE.com/acme/net/aws", reg},
	{41, "reg.example.com:8443/acme/net/aws//m", "R reg.example.com:8443/acme/net/aws//m"},
	{42, "reg.example.com:443/acme/net/aws", reg},
	{43, "reg.example.com:70000/a/b/c", "P reg.example.com:70000/a/b/c"},
	{44, "reg.example.com:-1/a/b/c", "error"}, // stricter
	{45, "localhost/a/b/c", hint},
	{46, "localhost:8080/a/b/c", "P localhost:8080/a/b/c"},
	{47, "127.0.0.1:8080/a/b/c", "R 127.0.0.1:8080/a/b/c"},
	{48, "[::1]:80/a/b/c", hint},
	{49, "xn--bcher-kva.example/a/b/c", hint},
	{50, "bücher.example/a/b/c", "R bücher.example/a/b/c"},
	{51, "ｅｘａｍｐｌｅ.com/a/b/c", "R example.com/a/b/c"},
	{52, "reg.example.com./a/b/c", "R reg.example.com./a/b/c"},
	{53, "reg..example.com/a/b/c", hint},
	{53, "under_score.com/a/b/c", hint},
	{53, "*.x.com/a/b/c", hint},
	{54, "gitlab.com/acme/net/aws", "R gitlab.com/acme/net/aws"},
	{55, "gitlab.com/acme/net", hint},
	{55, "gitlab.com/acme/net.git", hint},
	{56, "git::gitlab.com/acme/net", hint},
	{57, "registry.terraform.io/a/b/c", "R registry.terraform.io/a/b/c"},
	{58, "GITHUB.com/a/b/c", hint},
	{59, "github.com:443/a/b/c", "P github.com:443/a/b/c"},
	{60, "github.com:8443/a/b/c", "R github.com:8443/a/b/c"},
}

const github = "P git::https://github.com/acme/net.git"

var forgeCases = []sourceCase{
	{61, "github.com/acme/net", github},
	{62, "github.com/acme/net/", github},
	{62, "github.com/acme/net.git", github},
	{63, "github.com/acme/net/aws", github + " ; aws"},
	{64, "github.com/acme/net/sub/dir//more?ref=x", github + "?ref=x ; sub/dir/more"},
	{65, "github.com/acme/net?ref=a/b", github + "?ref=a/b"},
	{66, "github.com/acme/net//s?", github + " ; s"},
	{67, "github.com/acme/net?ref=v1//sub", github + "?ref=v1//sub"},
	{68, "github.com/acme/net.git?ref=a&ref=b", github + "?ref=a&ref=b"},
	{69, "github.com/acme/net#frag", github + "#frag"},
	{70, "github.com/acme/net//sub%20dir?ref=x", github + "?ref=x ; sub%20dir"},
	{71, "github.com/acme/net/../other", outside},
	{72, "github.com/acme/net//..", outside}, // stricter
	{73, "github.com/acme", "error"},
	{73, "github.com//net", hint},
	{74, "GitHub.com/acme/net", hint},
	{74, "www.github.com/acme/net", hint},
	{75, "git@github.com:acme/net.git//sub?ref=v1", "P git::ssh://git@github.com/acme/net.git?ref=v1 ; sub"},
	{76, "git::git@h.com:acme/n.git?ref=feat/x&depth=1", "P git::ssh://git@h.com/acme/n.git?depth=1&ref=feat%2Fx"},
	{77, "git@h.com:/acme/n.git", "P git::ssh://git@h.com/acme/n.git"},
	{78, "git::git@h.com:2222/acme/n.git", "P git::ssh://git@h.com/2222/acme/n.git"},
	{79, "bob@h.com:acme/n.git", hint},
	{79, "git::bob@h.com:acme/n.git", hint},
	{80, "git::ssh://git@h.com:acme/n.git", "error"},
}

var urlCases = []sourceCase{
	{81, "ssh://git@h.com/acme/n.git", "P ssh://git@h.com/acme/n.git"},
	{82, "git://h.com/n.git", "P git://h.com/n.git"},
	{83, "git::https://h.com/n.git//a/../b", "P git::https://h.com/n.git ; b"},
	{84, "git::https://h.com/n.git//a/../../b", outside},
	{85, "git::https://h.com/n.git//", "P git::https://h.com/n.git"},
	{86, "git::https://h.com/n.git///s", "P git::https://h.com/n.git ; /s"},
	{87, "git::https://h.com/n.git//.", "P git::https://h.com/n.git ; ."},
	{88, "git::https://h.com/n.git?ref=a b", "P git::https://h.com/n.git?ref=a b"},
	{89, "git::https://u:p@h.com/n.git?sshkey=QUJD", "P git::https://u:p@h.com/n.git?sshkey=QUJD"},
	{90, "git::/srv/n.git", "P git::file:///srv/n.git"},
	{90, "git::/a\nb", hint},
	{91, "git::./rel", hint},
	{91, "git::../rel", hint},
	{91, "hg::./x", hint},
	{92, "git::git::https://x/y", "P git::git::https://x/y"},
	{93, "foo::https://x/a", "P foo::https://x/a"},
	{93, "foo::bar/baz", hint},
	{94, "hg::https://h.com/n?rev=abc", "P hg::https://h.com/n?rev=abc"},
	{95, "https://h.com/n", "P https://h.com/n"},
	{95, "https://h.com/n.zip?archive=false", "P https://h.com/n.zip?archive=false"},
	{96, "https://h.com/n//*?archive=tar.gz", "P https://h.com/n?archive=tar.gz ; *"},
	{97, "https://h.com//double/slash", "P https://h.com ; double/slash"},
	{98, "https://h.com/n?x=https://y//z", "P https://h.com/n?x=https://y//z"},
	{99, "https://github.com/acme/net.git", "P https://github.com/acme/net.git"},
	{100, "HTTPS://h.com/n.zip", "P HTTPS://h.com/n.zip"},
	{101, "http::https://h.com/n.zip", "P http::https://h.com/n.zip"},
	{102, "file:///srv/m//b?archive=tar.gz", "P file:///srv/m?archive=tar.gz ; b"},
	{103, "file::/srv/m", "P file::file:///srv/m"},
	{104, `C:\mods\net`, `P C:\mods\net`},
	{104, `D:\x//z`, `P D:\x ; z`},
	{105, `\\server\share`, hint},
	{117, "oci://r.com/a/n//sub?tag=1.0.0", "P oci://r.com/a/n?tag=1.0.0 ; sub"},
	{118, "oci://r.com/a/n:1.0", "P oci://r.com/a/n:1.0"},
	{118, "oci://r.com/a/n@sha256:0123", "P oci://r.com/a/n@sha256:0123"},
	{118, "oci://r.com/Acme/N", "P oci://r.com/Acme/N"},
	{118, "oci://", "P oci://"},
	{118, "oci::https://r.com/a", "P oci::https://r.com/a"},
	{119, "", "error"},
	{120, "git::https://h.com/n.git?version=~>1.2", "P git::https://h.com/n.git?version=~>1.2"},
}

var bucketCases = []sourceCase{
	{106, "bkt.s3.amazonaws.com/n.zip", "P s3::https://s3.amazonaws.com/bkt/n.zip"},
	{107, "bkt.s3-eu-west-1.amazonaws.com/n.zip", "P s3::https://s3-eu-west-1.amazonaws.com/bkt/n.zip"},
	{108, "bkt.s3.eu-west-1.amazonaws.com/n.zip", "P s3::https://s3.eu-west-1.amazonaws.com/bkt/n.zip"},
	{109, "s3.eu-west-1.amazonaws.com/bkt/n.zip", "error"}, // stricter,
	{110, "a.b.c.s3.amazonaws.com/n.zip", "error"},
	{111, "s3.amazonaws.com/bkt", "P s3::https://s3.amazonaws.com/bkt"},
	{112, "foo.amazonaws.com/a/b/c", "R foo.amazonaws.com/a/b/c"},
	{113, "git::s3.amazonaws.com/bkt/x", "P git::https://s3.amazonaws.com/bkt/x"},
	{114, "www.googleapis.com/storage/v1/bkt/n.zip//m", "P gcs::https://www.googleapis.com/storage/v1/bkt/n.zip ; m"},
	{115, "x.googleapis.com/a/b/c/d", "error"}, // stricter,
	{116, "bkt.storage.googleapis.com/obj", "error"},
}

// stricterCases are the differences from the stock tools that the package comment lists, with edge
// cases, and control characters, which the files in testdata cannot contain.
var stricterCases = []sourceCase{
	{0, "acme/net/aws//a/../..", outside},
	{0, "acme/net/aws//...", acme + "//..."},
	{0, "acme/net/aws//..x", acme + "//..x"},
	{0, `acme/net/aws//..\x`, acme + `//..\x`},
	{0, "reg.example.com/acme/net/aws//..", outside},
	{0, "foo.amazonaws.com/a/b/c//..", outside}, // neither a registry address nor S3
	{0, "https://h.com/n//..?ref=x", outside},
	{0, "https://h.com/n//a/..//..", outside},
	{0, "github.com/acme/net/..", outside},
	{0, "github.com/acme/net/..//a", outside},
	// The detected subdirectory has as many elements as there are "..", so the path stays
	// inside the package.
	{0, "github.com/acme/net/a/b//..", github + " ; a"},
	{0, "github.com/acme/net/a///b", github + " ; a/b"},

	{0, "reg.example.com:-0/acme/net/aws", "R reg.example.com:0/acme/net/aws"},
	{0, "reg.example.com:-443/acme/net/aws", "error"},
	{0, "reg.ex\xffample.com/acme/net/aws", "error"},
	{0, "reg。.example.com/acme/net/aws", "error"},
	{0, "\u00ad./acme/net/aws", "error"}, // otherwise it would be the Source of a local module
	{0, "reg。example.com/acme/net/aws", reg},
	{0, "reg.example.com../acme/net/aws", "R reg.example.com../acme/net/aws"},

	{0, "bitbucket.org/acme/net", "P git::https://bitbucket.org/acme/net.git"},
	{0, "bitbucket.org/acme/net.git", "P git::https://bitbucket.org/acme/net.git"},
	{0, "bitbucket.org/acme/net/", "P git::https://bitbucket.org/acme/net.git"},
	{0, "bitbucket.org/acme/net/sub//dir?ref=a/b", "P git::https://bitbucket.org/acme/net.git?ref=a/b ; sub/dir"},
	{0, "git::bitbucket.org/acme/net", "P git::https://bitbucket.org/acme/net.git"},
	{0, "hg::bitbucket.org/acme/net", "P hg::https://bitbucket.org/acme/net.git"},
	{0, "bitbucket.org/acme", "error"},
	{0, "bitbucket.org/", "error"},
	{0, "bitbucket.org/acme/", "error"},
	{0, "bitbucket.org/acme/?ref=x", "error"},
	{0, "bitbucket.org/a%zz/b", "error"},
	{0, "BitBucket.org/acme/net/aws", hint},
	{0, "bitbucket.org:443/acme/net/aws", "P bitbucket.org:443/acme/net/aws"},

	{0, "acme/net/aws\n", hint},
	{0, "acme\t/net/aws", hint},
	{0, "./a\nb", "L ./a\nb"},
	{0, "https://h.com/n\n", hint},
	{0, "https://h.com/n\x00", hint},
	{0, "https://h.com/n//a\tb", "P https://h.com/n ; a\tb"},
	{0, "git::https://h.com/n//a\nb", "P git::https://h.com/n ; a\nb"},
	{0, "github.com/acme/n\tt", "error"},
	{0, "github.com/acme/net/a\tb", github + " ; a%2509b"}, // escaped twice

	{0, "github.com/acme/net?ref=a\nb", github + "?ref=a\nb"}, // the query is not checked
	{0, "git@h.com:acme/n\n.git", hint},
	{0, "git@h\n.com:acme/n.git", "P git::ssh://git@h%0A.com/acme/n.git"},
}
