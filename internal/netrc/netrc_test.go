package netrc_test

import (
	"testing"

	"github.com/cotterpin/cotter/internal/netrc"
)

func TestFind(t *testing.T) {
	t.Parallel()
	const plain = "machine a.example login me password secret\n"
	for _, tt := range []struct{ text, host, login, password string }{
		{plain, "a.example", "me", "secret"},
		{plain, "A.Example", "me", "secret"},
		{"machine A.example\n\tlogin me\n\tpassword secret\n", "a.example", "me", "secret"},
		{"machine a.example\r\nlogin me\r\npassword secret\r\n", "a.example", "me", "secret"},
		{"machine x login no password no " + plain, "a.example", "me", "secret"},
		{"machine a.example password secret account x login me", "a.example", "me", "secret"},
		{"machine a.example login me password secret\nmachine a.example login other password other", "a.example", "me", "secret"},
		{"# machine a.example login no\n" + plain, "a.example", "me", "secret"},
		{"machine a.example # login no\nlogin me password #secret", "a.example", "me", "#secret"},
		{`machine "a.example" login "m e" password "se\"c\\ret#"`, "a.example", "m e", `se"c\ret#`},
		{"machine a.example:8443 login me password secret", "a.example:8443", "me", "secret"},
		{"macdef init\nmachine a.example login no password no\n\n" + plain, "a.example", "me", "secret"},
		{"default login no password no\n" + plain, "a.example", "me", "secret"},
		{plain + "default login no password no", "a.example", "me", "secret"},
		{"login no password no " + plain, "a.example", "me", "secret"},
		{"machine a.example login machine password default", "a.example", "machine", "default"},
	} {
		login, password, found := netrc.Parse([]byte(tt.text)).Find(tt.host)
		if login != tt.login || password != tt.password || !found {
			t.Errorf("Parse(%q).Find(%q) = %q, %q, %t; want %q, %q", tt.text, tt.host, login, password, found, tt.login, tt.password)
		}
	}
}

func TestFindNothing(t *testing.T) {
	t.Parallel()
	for text, host := range map[string]string{
		"": "a.example",
		"machine a.example login me password secret":          "b.example",
		"machine b.example login me password secret":          "a.b.example",
		"machine .example login me password secret":           "a.example",
		"machine a.example:443 login me password x":           "a.example",
		"machine c.example login me password secret":          "c.example:8443",
		"default login me password secret":                    "a.example",
		"machine":                                             "",
		"macdef x\nmachine a.example login me":                "a.example",
		"# machine a.example login me password secret":        "a.example",
		"password machine a.example login me password secret": "a.example",
	} {
		if login, password, found := netrc.Parse([]byte(text)).Find(host); found {
			t.Errorf("Parse(%q).Find(%q) = %q, %q; want nothing", text, host, login, password)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("machine a login b password \"c\\\"\" # x\nmacdef y\nz\n\ndefault login d"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if _, _, found := netrc.Parse(src).Find("no such host"); found && len(src) < len("machine no such host") {
			t.Error("found a host that is not there")
		}
	})
}
