package addrs_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
)

func FuzzParseModuleSource(f *testing.F) {
	for _, test := range slices.Concat(localCases, registryCases, hostCases, forgeCases, urlCases, bucketCases) {
		f.Add(test.input)
	}
	for _, stored := range storedSources(f) {
		f.Add(stored.input)
	}
	f.Fuzz(func(t *testing.T, input string) {
		src, err := addrs.ParseModuleSource(input)
		if err != nil {
			if src != nil || err.Error() == "" {
				t.Fatalf("ParseModuleSource(%q) = %#v, %v", input, src, err)
			}
			return
		}
		subdir := ""
		switch src := src.(type) {
		case addrs.ModuleSourceLocal:
		case addrs.ModuleSourceRegistry:
			subdir = src.Subdir
			if strict, err := addrs.ParseModuleSourceRegistry(input); err != nil || strict != src {
				t.Errorf("ParseModuleSourceRegistry(%q) = %v, %v, want %v", input, strict, err, src)
			}
		case addrs.ModuleSourceRemote:
			subdir = src.Subdir
		}
		if joined := path.Join("/package", subdir); !strings.HasPrefix(joined+"/", "/package/") {
			t.Errorf("ParseModuleSource(%q) has the subdirectory %q", input, subdir)
		}
		if !isReversible(src) {
			return
		}
		again, err := addrs.ParseModuleSource(src.String())
		if err != nil || again != src {
			t.Errorf("ParseModuleSource(%q) = %#v, and again = %#v, %v", input, again, src, err)
		}
		_ = src.ForDisplay()
	})
}

// isReversible reports whether the Source string of src can be parsed again. The detectors do
// not always make a URL of an odd shorthand, and if a package ends in a slash or a colon, the
// "//" after it is not recognized.
func isReversible(src addrs.ModuleSource) bool {
	remote, ok := src.(addrs.ModuleSourceRemote)
	if !ok {
		return true
	}
	at, err := remote.Package.Location()
	if err != nil || at.URL().Scheme == "" {
		return false
	}
	text, _, _ := strings.Cut(remote.Package.String(), "?")
	return remote.Subdir == "" || !strings.HasSuffix(text, "/") && !strings.HasSuffix(text, ":")
}

func FuzzParseModulePackage(f *testing.F) {
	f.Add("git::https://u:p@h.com/n.git?ref=v1&x#f?y", "ref", "a/b&#")
	f.Add("git::git::C:\\a?%72ef=%zz#%zz", "ref", "")
	f.Add("?0&", "0", "0")
	f.Fuzz(func(t *testing.T, address, name, value string) {
		p := addrs.ParseModulePackage(address)
		if p.String() != address {
			t.Fatalf("ParseModulePackage(%q) = %q", address, p)
		}
		with := p.WithArg(name, value)
		if got := with.Arg(name); got != value {
			t.Errorf("%q with %q=%q has %q", p, name, value, got)
		}
		if got := with.Without(name); got.HasArg(name) || got != p.Without(name) && p.HasArg(name) {
			t.Errorf("%q without %q is %q", with, name, got)
		}
		for _, made := range []addrs.ModulePackage{with, p.Without(name), p.Repository(), p.WithoutCredentials(), p.Unpinned()} {
			if made != addrs.ParseModulePackage(made.String()) {
				t.Errorf("%#v made of %q is not what its text parses to", made, p)
			}
		}
	})
}

func FuzzParseHostname(f *testing.F) {
	for _, seed := range []string{"reg.example.com:443", "Bücher.example", "a..b", "xn--a", "h:-1", "h\xff", "faß.de", "ａ。b", "\u00ad", "\u00ad:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		host, err := addrs.ParseHostname(input)
		if err != nil {
			return
		}
		if strings.ContainsAny(string(host), "/@?#") || strings.ToLower(string(host)) != string(host) {
			t.Errorf("ParseHostname(%q) = %q", input, host)
		}
		again, err := addrs.ParseHostname(host.ForDisplay())
		if err != nil || again != host {
			t.Errorf("ParseHostname(%q) = %q, and of its display form %q, %v", input, host, again, err)
		}
	})
}

func FuzzRedactText(f *testing.F) {
	f.Add("fatal: unable to access 'https://u:", "@h.com/n.git'")
	f.Add("https://h.com/?a=b&token=", "' is bad")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "S3CRET"
		if strings.Contains(before+after, "S3C") || strings.Contains(before+after, "RET") {
			t.Skip()
		}
		for _, text := range []string{before + " https://user:" + secret + "@h.com/x " + after, before + " https://h.com/x?token=" + secret + " " + after} {
			if got := addrs.RedactText(text); strings.Contains(got, secret) {
				t.Errorf("RedactText(%q) = %q", text, got)
			}
		}
	})
}

func FuzzParseModule(f *testing.F) {
	for _, seed := range []string{"", "a", "a.b-c", "a..b", "日本._", "../x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, key string) {
		m, err := addrs.ParseModule(key)
		if err != nil {
			return
		}
		if m.String() != key || strings.ContainsAny(key, "/\\:\x00") {
			t.Errorf("ParseModule(%q) = %q", key, m)
		}
	})
}

func FuzzRedact(f *testing.F) {
	f.Add("git", "https", "u:", "x", "h.com/n.git//sub", "token")
	f.Add("", "ssh", "", "@", "[::1]:22/a@b?ref=x#f", "X-Amz-Signature")
	f.Add("git", "ssh", "git@h.com u:", "", "h.com/n.git", "token")
	f.Fuzz(func(t *testing.T, forced, scheme, before, after, rest, key string) {
		const secret = "S3CRET"
		given := forced + scheme + before + after + rest + key
		if strings.Contains(given, "S3C") || strings.Contains(given, "RET") || strings.ContainsAny(before+after, "/?#") {
			t.Skip()
		}
		if strings.HasSuffix(scheme, "ssh") && !strings.Contains(before, ":") {
			before += "u:" // the name of a user of ssh is shown, passwords are not
		}
		addr := scheme + "://" + before + secret + after + "@" + rest
		if forced != "" {
			addr = forced + "::" + addr
		}
		if got := addrs.Redact(addr); strings.Contains(got, secret) {
			t.Errorf("Redact(%q) = %q", addr, got)
		}
		switch key {
		case "ref", "tag", "digest", "depth", "archive", "version", "rev", "checksum":
			return
		}
		if strings.ContainsAny(key, "&;?=") {
			return
		}
		addr = "https://h.com/n?" + key + "=" + secret + after
		if got := addrs.Redact(addr); strings.Contains(got, secret) {
			t.Errorf("Redact(%q) = %q", addr, got)
		}
	})
}
