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

// exampleDomain is reserved for examples (RFC 2606), so it cannot be the name of a real host.
const exampleDomain = "example.com"

// Host returns the world's host as it appears in registry addresses, "127.0.0.1:PORT".
func (w *World) Host() addrs.Hostname { return addrs.Hostname(w.host) }

// URL returns the address of the TLS listener, "https://127.0.0.1:PORT".
func (w *World) URL() string { return "https://" + w.host }

// PlainURL returns the address of the listener without TLS, "http://127.0.0.1:OTHERPORT".
// Locations in its answers still point to the TLS listener.
func (w *World) PlainURL() string { return w.plainURL }

// Source returns the source address of a module in the registry, for example
// "127.0.0.1:PORT/acme/net/aws//sub" for "acme/net/aws//sub".
func (w *World) Source(module string) string { return w.host + "/" + module }

// GitSource returns the source address of a repository, followed by rest, for example
// "git::https://127.0.0.1:PORT/git/net.git//sub?ref=v1.0.0" for "net.git" and "//sub?ref=v1.0.0".
func (w *World) GitSource(repo, rest string) string {
	return "git::" + w.URL() + "/git/" + repo + rest
}

// ArchiveSource returns the source address of an archive, followed by rest, for example
// "https://127.0.0.1:PORT/archives/net.zip//sub" for "net.zip" and "//sub".
func (w *World) ArchiveSource(name, rest string) string {
	return w.URL() + "/archives/" + name + rest
}

// OCISource returns the source address of an OCI repository, followed by rest, for example
// "oci://127.0.0.1:PORT/acme/net//sub?tag=1.2.0" for "acme/net" and "//sub?tag=1.2.0".
func (w *World) OCISource(repo, rest string) string { return "oci://" + w.host + "/" + repo + rest }

// HTTPClient returns a client that trusts the world's certificate for all of the world's names.
// It can reach only loopback addresses: a request to any other host fails instead of reaching the
// internet. It ignores proxies. Each call returns a new client, so a test may change it.
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

// exampleConn is a connection to a host below example.com. Its remote address is one that is reserved
// for examples (RFC 5737): a client must not follow packages and servers to names on this machine.
type exampleConn struct{ net.Conn }

func (exampleConn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(203, 0, 113, 1), Port: 443}
}

// Env returns environment entries, "NAME=value", with which a child process trusts the world's
// certificate and reaches the world without a proxy. They work for git and for Go programs such
// as terraform and tofu (on systems on which Go uses SSL_CERT_FILE). Git reads no other
// certificates, because that would cost each of its processes more than the rest of a request,
// and it never asks for a password. The entries must be appended to the end of an environment.
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

// Installer returns an installer that trusts the world's servers and cannot reach any others. It
// has no credentials. Its cache and its key are new and are removed with the world. The caller
// may change its fields before the first use.
func (w *World) Installer() *installer.Installer {
	dir := filepath.Join(w.dir, "installers", strconv.FormatInt(w.installers.Add(1), 10))
	return installer.New(installer.Options{
		HTTPClient: w.HTTPClient(),
		Fetcher:    &getmodules.Fetcher{Git: getmodules.Git{Env: append(os.Environ(), w.Env()...)}},
		CacheDir:   filepath.Join(dir, "cache"),
		StateDir:   filepath.Join(dir, "state"),
	})
}
