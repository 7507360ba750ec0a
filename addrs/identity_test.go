package addrs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/testenv"
)

// TestForLock has what a lock shows of a literal, and of any other address.
func TestForLock(t *testing.T) {
	t.Parallel()
	const (
		aws   = "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=A%2F1&X-Amz-Date=1&X-Amz-Expires=2&X-Amz-SignedHeaders=host&X-Amz-Signature=3"
		gcs   = "X-Goog-Algorithm=G&X-Goog-Credential=A&X-Goog-Date=1&X-Goog-Expires=2&X-Goog-SignedHeaders=host&X-Goog-Signature=3"
		azure = "sv=2022-11-02&st=1&se=2&sr=b&sp=r&sig=abc%3D"
	)
	for _, test := range []struct {
		pkg, literal, other string
		hidden              string // of the literal
	}{
		{"https://h.com/a.zip?archive=zip&checksum=sha256:0", "https://h.com/a.zip?archive=zip&checksum=sha256:0", "https://h.com/a.zip?archive=zip&checksum=sha256:0", ""},
		{"https://h.com/a.zip?sha=aaa", "https://h.com/a.zip?sha=aaa", "https://h.com/a.zip", ""},
		{"https://h.com/a.zip?x=1&ref=2&x=3", "https://h.com/a.zip?x=1&ref=2&x=3", "https://h.com/a.zip?ref=2", ""},
		{"git::https://u:p@h.com/a.git?ref=v1&depth=1&private_token=X", "git::https://h.com/a.git?ref=v1&depth=1", "git::https://h.com/a.git?ref=v1&depth=1", `the user, the argument "private_token"`},
		{"git::ssh://git@h.com/a.git?x=1", "git::ssh://git@h.com/a.git?x=1", "git::ssh://git@h.com/a.git", ""},
		{"https://h.com/a.zip?x=1#y", "https://h.com/a.zip?x=1", "https://h.com/a.zip", "the fragment"},
		{"https://h.com/a.zip?abc", "https://h.com/a.zip", "https://h.com/a.zip", "an argument without a value"},
		// Credentials have many names.
		{"https://h.com/a.zip?X-Api-Key=1&x=2", "https://h.com/a.zip?x=2", "https://h.com/a.zip", `the argument "X-Api-Key"`},
		{"https://h.com/a.zip?client_secret=1", "https://h.com/a.zip", "https://h.com/a.zip", `the argument "client_secret"`},
		{"https://h.com/a.zip?%74oken=1", "https://h.com/a.zip", "https://h.com/a.zip", `the argument "%74oken"`},
		// They can be in other values.
		{"https://h.com/a.zip?x=1;token=2", "https://h.com/a.zip", "https://h.com/a.zip", `the argument "x"`},
		{"https://h.com/a.zip?x=1?token=2", "https://h.com/a.zip", "https://h.com/a.zip", `the argument "x"`},
		{"https://h.com/a.zip?checksum=file:https://h.com/sums", "https://h.com/a.zip?checksum=file:https://h.com/sums", "https://h.com/a.zip", ""},
		{"https://h.com/a.zip?checksum=file:https://u:p@h.com/sums", "https://h.com/a.zip", "https://h.com/a.zip", `the argument "checksum"`},
		{"https://h.com/a.zip?from=https%253A%252F%252Fu%253Ap%2540h.com", "https://h.com/a.zip", "https://h.com/a.zip", `the argument "from"`},
		{"https://h.com/a.zip?x=%zz", "https://h.com/a.zip", "https://h.com/a.zip", `the argument "x"`},
		// A whole signature belongs to no address.
		{"https://h.com/a.zip?" + aws + "&versionId=7&X-Amz-Security-Token=9", "https://h.com/a.zip?versionId=7", "https://h.com/a.zip", ""},
		{"https://h.com/a.zip?generation=7&" + gcs, "https://h.com/a.zip?generation=7", "https://h.com/a.zip", ""},
		{"https://h.com/a.zip?snapshot=7&" + azure, "https://h.com/a.zip?snapshot=7", "https://h.com/a.zip", ""},
		{"https://h.com/a.zip?sv=1&ss=b&srt=o&sp=r&se=2&spr=https&sig=3", "https://h.com/a.zip", "https://h.com/a.zip", ""},
		{"https://h.com/a.zip?sv=1&sr=b&si=policy&sig=3", "https://h.com/a.zip", "https://h.com/a.zip", ""},
		{"https://h.com/a.zip?Expires=1&Signature=2&Key-Pair-Id=3&x=4", "https://h.com/a.zip?x=4", "https://h.com/a.zip", ""},
		{"https://h.com/a.zip?Policy=1&Signature=2&Key-Pair-Id=3", "https://h.com/a.zip", "https://h.com/a.zip", ""},
		// A part of one does.
		{
			"https://h.com/a.zip?" + strings.Replace(aws, "X-Amz-Date=1&", "", 1),
			"https://h.com/a.zip?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=2&X-Amz-SignedHeaders=host", "https://h.com/a.zip",
			`the argument "X-Amz-Credential", the argument "X-Amz-Signature"`,
		},
		{"https://h.com/a.zip?Expires=1&Key-Pair-Id=3", "https://h.com/a.zip?Expires=1&Key-Pair-Id=3", "https://h.com/a.zip", ""},
		{"https://h.com/a.zip?Expires=1&Expires=2&Signature=2&Key-Pair-Id=3", "https://h.com/a.zip?Expires=1&Expires=2&Key-Pair-Id=3", "https://h.com/a.zip", `the argument "Signature"`},
		{"https://h.com/a.zip?sv=1&sr=b&sp=r&se=2&sig=3&rsce=gzip", "https://h.com/a.zip?rsce=gzip", "https://h.com/a.zip", ""},
	} {
		pkg := addrs.ParseModulePackage(test.pkg)
		source := addrs.ModuleSourceRemote{Package: pkg}
		if literal, other := pkg.ForLock(true).String(), pkg.ForLock(false).String(); literal != test.literal || other != test.other {
			t.Errorf("ModulePackage(%q).ForLock = %s and %s, want %s and %s", test.pkg, literal, other, test.literal, test.other)
		}
		if again := pkg.ForLock(true).ForLock(true); again != pkg.ForLock(true) || pkg.ForLock(true).ForLock(false) != pkg.ForLock(false) || again.HoldsCredentials() {
			t.Errorf("ModulePackage(%q).ForLock(true) is not in that form: %s", test.pkg, again)
		}
		if hidden := strings.Join(addrs.Hidden(source, true), ", "); hidden != test.hidden {
			t.Errorf("Hidden(%q, true) = %s, want %s", test.pkg, hidden, test.hidden)
		}
		if hidden := addrs.Hidden(source, false); (hidden == nil) != (pkg.Unsigned() == pkg.ForLock(false)) {
			t.Errorf("Hidden(%q, false) = %s", test.pkg, hidden)
		}
	}
}

// An address in a lock belongs to the addresses of which it is one of the two forms.
func TestIsRecord(t *testing.T) {
	t.Parallel()
	address := testenv.Source("https://h.com/a.zip//sub?sha=a&x=1&token=t")
	for text, want := range map[string]bool{
		"https://h.com/a.zip//sub?sha=a&x=1":         true,
		"https://h.com/a.zip//sub":                   true,
		"https://h.com/a.zip//sub?sha=a":             false,
		"https://h.com/a.zip//sub?sha=b&x=1":         false,
		"https://h.com/a.zip//sub?x=1&sha=a":         false,
		"https://h.com/a.zip?sha=a&x=1":              false,
		"https://h.com/b.zip//sub":                   false,
		"https://h.com/a.zip//sub?sha=a&x=1&token=t": false,
	} {
		if got := addrs.IsRecord(testenv.Source(text), address); got != want {
			t.Errorf("%s is a record of %s: %v", text, address, got)
		}
	}
	if addrs.IsRecord(nil, address) || addrs.IsRecord(nil, nil) {
		t.Error("no address is a record")
	}
	for _, source := range []string{"./x", "acme/net/aws//x"} {
		if parsed := testenv.Source(source); !addrs.IsRecord(parsed, parsed) || addrs.IsRecord(address, parsed) {
			t.Errorf("%s is not its own record", source)
		}
	}
	if !addrs.SameRecord(addrs.LockForm(address, true), addrs.LockForm(address, false)) || addrs.SameRecord(addrs.LockForm(address, true), testenv.Source("https://h.com/a.zip//sub?sha=b&x=1")) {
		t.Error("two records are compared wrongly")
	}
}

// FuzzIdentity: what a lock shows of an address is no secret that has a name, is stable, and tells whether something
// is hidden.
func FuzzIdentity(f *testing.F) {
	for _, seed := range []string{"https://u:p@h.com/a.zip?sha=a&token=b#c", "git::ssh://git@h.com/a.git?ref=1", "own::x:y?sv=1&sr=b&sp=r&se=2&sig=3", "s3::https://h h/?&;=?", "A:@%?0=", "?0=//@", "Assh://0@0", "A://@0:/@", "A://0://@:A/@"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		source := addrs.ModuleSourceRemote{Package: addrs.ParseModulePackage(address)}
		if at, err := source.Package.Location(); err != nil || at.Host() == "" || at.URL().Scheme == "" {
			return // redacted text is no address, and without a scheme and a host nothing is a credential for one
		}
		for _, literal := range []bool{true, false} {
			form := addrs.LockForm(source, literal).(addrs.ModuleSourceRemote)
			if form.Package.ForLock(literal) != form.Package || form.Package.HoldsCredentials() {
				t.Errorf("%q: the form %q is not stable or has credentials", address, form.String())
			}
			isShown := form.Package == source.Package.Unsigned()
			if hidden := addrs.Hidden(source, literal); (hidden == nil) != isShown || slices.Contains(hidden, "") {
				t.Errorf("%q: hidden is %q, with the form %q", address, hidden, form.String())
			}
		}
		if unsigned := source.Package.Unsigned(); unsigned.Unsigned() != unsigned {
			t.Errorf("%q: %q has a signature", address, unsigned.String())
		}
	})
}
