package hostname_test

import (
	"net/url"
	"testing"

	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/testenv"
)

var (
	inside = []string{
		"localhost", "LOCALHOST", "localhost.", "db.localhost", "127.0.0.1", "127.1.2.3", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]",
		"[2002:7f00:1::]", "0.0.0.0", "0.1.2.3", "[::]", "127.0.0.1.", "ｌocalhost", "LOCALHOST。",
	}
	link = []string{
		"169.254.169.254", "169.254.0.1", "[fe80::1]", "[fe80::1%25eth0]", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]",
		"224.0.0.1", "[ff02::1]", "255.255.255.255", "[fd00:ec2::254]", "[fd00:c1::a9fe:a9fe]", "100.100.100.200",
	}
	numbers = []string{"2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "1.2.3", "0x", "example.0x7f", "127.0.0.1.5", "1", "127.0.0.１", "１６９.254.169.254", "127。0。0。1", "127.0.0.0.1", "256.1", "4294967296", "08", "a.0x7f", "a.1"}
	outside = []string{
		"example.com", "10.0.0.1", "192.168.1.1", "[fd12::1]", "93.184.216.34", "[2606:2800:220:1::1]", "git.corp", "a1", "1a.example", "localhost.example.com",
		"[64:ff9b::808:808]", "[2002:808:808::1]", "xn--bcher-kva.example", "0x7g", "0xg", "1.example",
	}
)

func at(t *testing.T, host string) *url.URL {
	t.Helper()
	u, err := url.Parse("https://" + host + ":8443/x")
	testenv.Must(t, err)
	return u
}

func TestMayPointTo(t *testing.T) {
	t.Parallel()
	groups := map[string][]string{"this machine": inside, "its link": link, "numbers": numbers, "elsewhere": outside}
	for from, fromHosts := range groups {
		for to, toHosts := range groups {
			want := to == "elsewhere" || to == from && to != "numbers"
			for _, a := range fromHosts {
				for _, b := range toHosts {
					reason, got := hostname.MayPointTo(at(t, a), at(t, b))
					if got != want || got != (reason == "") {
						t.Errorf("MayPointTo(%s, %s) = %q, %v; want %v, from %s to %s", a, b, reason, got, want, from, to)
					}
				}
			}
		}
	}
}

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"http://127.0.0.1":          true,
		"http://127.0.0.1:80":       true,
		"http://127.255.255.254":    true,
		"http://localhost:1":        true,
		"http://LocalHost":          true,
		"http://[::1]:80":           true,
		"http://[::ffff:127.0.0.1]": true,
		"http://128.0.0.1":          false,
		"http://127.1":              false,
		"http://2130706433":         false,
		"http://0x7f.0.0.1":         false,
		"http://0.0.0.0":            false,
		"http://[::]":               false,
		"http://localhost.example":  false,
		"http://127.0.0.1.example":  false,
		"http://user@example":       false,
		"http://localhost@example":  false,
		"http:///x":                 false,
		"mailto:localhost":          false,
	}
	for text, want := range tests {
		if got := hostname.IsLoopback(parse(t, text)); got != want {
			t.Errorf("IsLoopback(%q) = %v, want %v", text, got, want)
		}
	}
}

func parse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	testenv.Must(t, err)
	return u
}

func FuzzMay(f *testing.F) {
	for _, hosts := range [][]string{inside, link, numbers, outside} {
		for _, host := range hosts {
			f.Add("example.com", host)
			f.Add(host, "localhost")
		}
	}
	f.Fuzz(func(t *testing.T, from, to string) {
		reason, ok := hostname.MayPointTo(&url.URL{Host: from}, &url.URL{Host: to})
		if ok != (reason == "") {
			t.Errorf("May(%q, %q) = %q, %v", from, to, reason, ok)
		}
		if _, ok := hostname.MayPointTo(&url.URL{Host: to}, &url.URL{Host: "example.com"}); !ok {
			t.Errorf("%q may not point to example.com", to)
		}
	})
}
