package modtest

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// exampleDomain is reserved for examples (RFC 2606), so that no test can mean
// a real host by it.
const exampleDomain = "example.com"

// Host is the world's host as it stands in registry addresses,
// "127.0.0.1:PORT".
func (w *World) Host() addrs.Hostname { return addrs.Hostname(w.host) }

// URL is the address of the TLS listener, "https://127.0.0.1:PORT".
func (w *World) URL() string { return "https://" + w.host }

// PlainURL is the address of the listener without TLS,
// "http://127.0.0.1:OTHERPORT". Locations in answers point to the TLS listener
// all the same.
func (w *World) PlainURL() string { return w.plainURL }

// Source is the source address of a module in the registry, for example
// "127.0.0.1:PORT/acme/net/aws//sub" for "acme/net/aws//sub".
func (w *World) Source(module string) string { return w.host + "/" + module }

// GitSource is the source address of a repository and what rest adds to it,
// for example "git::https://127.0.0.1:PORT/git/net.git//sub?ref=v1.0.0" for
// "net.git" and "//sub?ref=v1.0.0".
func (w *World) GitSource(repo, rest string) string {
	return "git::" + w.URL() + "/git/" + repo + rest
}

// ArchiveSource is the source address of an archive and what rest adds to it,
// for example "https://127.0.0.1:PORT/archives/net.zip//sub" for "net.zip" and
// "//sub".
func (w *World) ArchiveSource(name, rest string) string {
	return w.URL() + "/archives/" + name + rest
}

// OCISource is the source address of an OCI repository and what rest adds to it,
// for example "oci://127.0.0.1:PORT/acme/net//sub?tag=1.2.0" for "acme/net" and
// "//sub?tag=1.2.0".
func (w *World) OCISource(repo, rest string) string { return "oci://" + w.host + "/" + repo + rest }

// HTTPClient is a client that trusts the world's certificate, by whichever of
// its names the world is called, and reaches nothing but loopback addresses:
// a test that asks for any other host gets an error, not the internet. It
// ignores proxies. Each call gives a client of its own, so a test may change
// it.
func (w *World) HTTPClient() *http.Client { return &http.Client{Transport: w.transport} }

func (w *World) newTransport() *http.Transport {
	return &http.Transport{
		DialContext:     w.dial,
		TLSClientConfig: &tls.Config{RootCAs: w.authority.pool, MinVersion: tls.VersionTLS12},
	}
}

func (w *World) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	if host == exampleDomain || strings.HasSuffix(host, "."+exampleDomain) {
		if port == "80" {
			return d.DialContext(ctx, network, strings.TrimPrefix(w.plainURL, "http://"))
		}
		return d.DialContext(ctx, network, w.host)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("modtest: %q is outside of the world: only loopback addresses and %s are in it", host, exampleDomain)
	}
	return d.DialContext(ctx, network, addr)
}

// Env are the entries, "NAME=value", that make a child process trust the
// world's certificate and reach the world without a proxy: git, and Go
// programs such as terraform and tofu (on systems where Go heeds
// SSL_CERT_FILE). Git is told to read no other certificates, which would cost
// each of its processes more than the rest of a request, and never to ask for a
// password. The entries are to be added to an environment, behind all else.
func (w *World) Env() []string {
	return []string{
		"SSL_CERT_FILE=" + w.certificateFile(),
		"GIT_SSL_CAINFO=" + w.certificateFile(),
		"GIT_SSL_CAPATH=" + w.emptyDir(),
		"GIT_TERMINAL_PROMPT=0",
		"NO_PROXY=127.0.0.1,localhost",
		"no_proxy=127.0.0.1,localhost",
	}
}
