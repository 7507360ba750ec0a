package modtest

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
)

// exampleDomain cannot be the name of a real host (RFC 2606).
const exampleDomain = "example.com"

// Host returns the host in registry addresses, "127.0.0.1:PORT".
func (w *World) Host() addrs.Hostname { return addrs.Hostname(w.host) }

// URL returns the address of the TLS listener, "https://127.0.0.1:PORT".
func (w *World) URL() string { return "https://" + w.host }

// PlainURL returns the address of the listener without TLS. Locations in its answers point to the TLS
// listener.
func (w *World) PlainURL() string { return w.plainURL }

// Source returns the source address of a module in the registry: "127.0.0.1:PORT/acme/net/aws//sub" for
// "acme/net/aws//sub".
func (w *World) Source(module string) string { return w.host + "/" + module }

// GitSource returns the source address of a repository and rest:
// "git::https://127.0.0.1:PORT/git/net.git//sub?ref=v1.0.0" for "net.git" and "//sub?ref=v1.0.0". A
// repository has a commit for each tag, on the branch main: other tags by name, then versions from the
// oldest to the newest.
func (w *World) GitSource(repo, rest string) string {
	return "git::" + w.URL() + "/git/" + repo + rest
}

// ArchiveSource returns the source address of an archive and rest:
// "https://127.0.0.1:PORT/archives/net.zip//sub" for "net.zip" and "//sub".
func (w *World) ArchiveSource(name, rest string) string {
	return w.URL() + "/archives/" + name + rest
}

// OCISource returns the source address of an OCI repository and rest:
// "oci://127.0.0.1:PORT/acme/net//sub?tag=1.2.0" for "acme/net" and "//sub?tag=1.2.0".
func (w *World) OCISource(repo, rest string) string { return "oci://" + w.host + "/" + repo + rest }

// HTTPClient returns a new client that trusts the world's certificate, ignores proxies, and reaches only
// loopback addresses. It connects to the world for 127.0.0.1, ::1, localhost, example.com and names
// directly below that, so tests without child processes can use a constant address, such as
// "registry.example.com/acme/net/aws". Modules from there need [Options].Archives or [Options].Hosted:
// clients accept git on 127.0.0.1 only from a registry at such an address.
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
		listener := w.host
		if port == "80" {
			listener = strings.TrimPrefix(w.plainURL, "http://")
		}
		conn, err := d.DialContext(ctx, network, listener)
		if err != nil {
			return nil, err
		}
		return exampleConn{conn}, nil
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("modtest: %q is outside of the world, which has only loopback addresses and %s", host, exampleDomain)
	}
	return d.DialContext(ctx, network, addr)
}

// exampleConn has a remote address that is reserved for examples (RFC 5737): a client must not follow
// packages and servers to names on this machine.
type exampleConn struct{ net.Conn }

func (exampleConn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(203, 0, 113, 1), Port: 443}
}

// Env returns environment entries, "NAME=value", to append for child processes, with which they trust the
// world's certificate and reach it without a proxy. They work for git, which then reads no other
// certificates and never asks for a password, and for Go programs such as terraform and tofu, except on
// macOS and Windows, where Go ignores SSL_CERT_FILE.
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

// Installer returns an installer that trusts the world's servers and reaches no others, with a cache and a
// key of its own and no credentials. Its fields may be changed before the first use.
func (w *World) Installer() *installer.Installer {
	dir := filepath.Join(w.dir, "installers", strconv.FormatInt(w.installers.Add(1), 10))
	return installer.New(installer.Options{
		HTTPClient: w.HTTPClient(),
		Fetcher:    &getmodules.Fetcher{Git: getmodules.Git{Env: append(os.Environ(), w.Env()...)}},
		CacheDir:   filepath.Join(dir, "cache"),
		StateDir:   filepath.Join(dir, "state"),
	})
}
