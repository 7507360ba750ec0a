package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/google/go-cmp/cmp"
)

func lookupFailed(host string, notFound bool) error {
	return &httpx.NetworkError{Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: notFound}}
}

// fetchFrom is the error of a module whose package comes from a host.
func fetchFrom(key, address string, err error) error {
	if network, ok := errors.AsType[*httpx.NetworkError](err); ok {
		network.URL = hostname.URLIn(address).String()
	}
	if host, ok := errors.AsType[*git.HostError](err); ok {
		host.URL = hostname.URLIn(address).String()
	}
	return inModule(key, &getmodules.FetchError{Package: address, Err: err})
}

func certificateFailed(err error) error {
	return &httpx.NetworkError{Err: &tls.CertificateVerificationError{Err: err}}
}

func expires(from, to time.Time) error {
	return x509.CertificateInvalidError{Cert: &x509.Certificate{NotBefore: from, NotAfter: to}, Reason: x509.Expired}
}

func fullDiskAt(name string) error {
	return fmt.Errorf("the copy failed: %w", &fs.PathError{Op: "write", Path: name, Err: syscall.ENOSPC})
}

const github, gitlab = "git::https://github.com/acme/net.git", "git::https://gitlab.com/acme/net.git"

// problemCase is an error and the text output for it.
type problemCase struct {
	name string
	err  error
	want string
}

const overSSH = "git::ssh://root@h.example.com:22/net.git"

// saidBy is the error for what git or ssh has printed.
func saidBy(stderr string) error {
	e := git.MeaningOf(stderr)
	e.Err = errors.New("git fetch: exit status 128: " + stderr)
	return e
}

func machineProblems() []problemCase {
	past := time.Date(2020, 1, 2, 3, 4, 0, 0, time.UTC)
	return []problemCase{
		{"no name is resolved", errors.Join(
			fetchFrom("a", github, lookupFailed("github.com", true)), fetchFrom("b", gitlab, lookupFailed("gitlab.com", true)),
			fetchFrom("ssh", overSSH, saidBy("ssh: Could not resolve hostname h.example.com: Name or service not known")),
			ofProvider(&disco.DiscoveryError{Host: addrs.DefaultRegistryHost, Err: lookupFailed("registry.opentofu.org", true)}),
		), `Error: no host name can be resolved, so the network or DNS is down: github.com, gitlab.com, h.example.com:22 and registry.opentofu.org

  module a
  module b
  module ssh
  provider hashicorp/cloud

Check the network and the DNS settings of this machine.
`},
		{"a host that exists is not resolved", fetchFrom("a", github, lookupFailed("github.com", true)), `Error: module a: no host name can be resolved, so the network or DNS is down: github.com

Check the network and the DNS settings of this machine.
`},
		{"no server answers questions for names", fetchFrom("a", "git::https://git.example.com/x", lookupFailed("git.example.com", false)), `Error: module a: no host name can be resolved, so the network or DNS is down: git.example.com

Check the network and the DNS settings of this machine.
`},
		{"a host that is down, for git and for our client", errors.Join(
			fetchFrom("a", github, saidBy("fatal: unable to access 'https://github.com/': Failed to connect to github.com port 443 after 9 ms: Couldn't connect to server")),
			fetchFrom("b", "https://github.com/net.zip", &httpx.NetworkError{Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}),
		), `Error: github.com cannot be reached: no connection to github.com, port 443

  module a
  module b

Check the address of github.com, the network and the proxy settings.
`},
		{"a misspelled host", fetchFrom("a", "git::https://githib.com/x", lookupFailed("githib.com", true)), `Error: module a: githib.com cannot be reached: there is no such host

Check the spelling of githib.com. Did you mean github.com?
`},
		{"two misspelled hosts, and another that answers", errors.Join(
			fetchFrom("a", "git::https://x.example.com/x", lookupFailed("x.example.com", true)),
			fetchFrom("b", "git::https://y.example.com/x", lookupFailed("y.example.com", true)),
			fetchFrom("c", github, certificateFailed(expires(past, past))),
		), `Error: module a: x.example.com cannot be reached: there is no such host

Error: module b: y.example.com cannot be reached: there is no such host

Error: module c: github.com's certificate is not trusted: it expired on 2020-01-02 03:04 UTC

Check the spelling of x.example.com and y.example.com.
Ask the operator of github.com for a valid certificate. If it is valid, the clock of this machine is wrong: set it.
`},
		{"a certificate of the future", fetchFrom("a", github, certificateFailed(expires(past.AddDate(500, 0, 0), past.AddDate(501, 0, 0)))),
			`Error: module a: github.com's certificate is not trusted: it is valid only from 2520-01-02 03:04 UTC on

Check the clock of this machine: it is probably behind.
`},
		{"an expired certificate that git reports", fetchFrom("a", github, saidBy("fatal: unable to access 'https://github.com/': SSL certificate problem: certificate has expired")),
			`Error: module a: github.com's certificate is not trusted: it has expired

Ask the operator of github.com for a valid certificate. If it is valid, the clock of this machine is wrong: set it.
`},
		{"a registry on another host", inModule("a", &registryclient.RequestError{
			Package: addrs.ModuleRegistryPackage{Host: "mods.example.com", Namespace: "acme", Name: "net", TargetSystem: "aws"}, URL: "https://localhost:8443/v1/modules/acme/net/aws/versions",
			Message: "log in", Err: &httpx.StatusError{Answer: &httpx.Answer{StatusCode: 401, Asked: []*url.URL{{Scheme: "https", Host: "localhost:8443"}}}, Meaning: "no credentials were sent for mods.example.com", Message: "log in"},
		}), `Error: module a: localhost:8443 answered 401 Unauthorized: no credentials were sent for mods.example.com; it says "log in"

Run ` + "`tofu login mods.example.com`" + `, set TF_TOKEN_mods_example_com, or add a ` + "`credentials \"mods.example.com\"`" + ` block with a token to the CLI configuration.
`},
	}
}

func diskProblems() []problemCase {
	return []problemCase{
		{"a full disk", errors.Join(
			inModule("a", fullDiskAt("/home/u/infra/.terraform/modules/.cotter/stage/AAA/a/main.tf")),
			inModule("b", fullDiskAt("/home/u/infra/.terraform/modules/.cotter/stage/AAA/b/x/main.tf")),
			ofProvider(fullDiskAt("/home/u/infra/.terraform/providers/x")),
		), `Error: no space is left on the disk of /home/u/infra/.terraform

  module a
  module b
  provider hashicorp/cloud

Free some space there, for example with ` + "`cotter cache clean`" + `, and run the command again.
`},
	}
}

func sshProblems() []problemCase {
	return []problemCase{
		{"ssh is refused", fetchFrom("a", overSSH, saidBy("ssh: connect to host h.example.com port 22: Connection refused\r")),
			`Error: module a: h.example.com:22 cannot be reached: connection refused (ssh, port 22)

Check the address of h.example.com:22, the network and the proxy settings.
`},
		{"ssh has no route", fetchFrom("a", overSSH, saidBy("ssh: connect to host h.example.com port 22: No route to host")),
			`Error: module a: h.example.com:22 cannot be reached: no route to host (ssh, port 22)

Check the address of h.example.com:22, the network and the proxy settings.
`},
		{"ssh does not know the host", fetchFrom("a", overSSH, saidBy("Host key verification failed.")),
			`Error: module a: h.example.com:22's ssh key is not known on this machine

Compare the key with what the owner of h.example.com:22 says: connect once with ssh by hand, and add it to ~/.ssh/known_hosts.
`},
		{"ssh knows another key", fetchFrom("a", overSSH, saidBy("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @; Host key verification failed.")),
			`Error: module a: h.example.com:22 has another ssh key than the known one

Ask the owner of h.example.com:22 whether the key was replaced; otherwise another server answers in its place. If it was, run ` + "`ssh-keygen -R h.example.com`" + `, and compare the new key when you connect once with ssh by hand.
`},
		{"git's server has another certificate", fetchFrom("a", github, saidBy("fatal: unable to access 'https://github.com/': SSL: no alternative certificate subject name matches target host name 'github.com'")),
			`Error: module a: github.com's certificate is not trusted: it is for another host

Check the spelling of github.com, and whether a proxy or the login page of a network answers in its place.
`},
		{"git finds no proxy", fetchFrom("a", github, saidBy("fatal: unable to access 'https://github.com/': Could not resolve proxy: p.example.com")),
			`Error: module a: github.com cannot be reached: there is no such proxy: p.example.com

Check the address of github.com, the network and the proxy settings.
`},
		{"git has no connection", fetchFrom("a", github, saidBy("fatal: unable to access 'https://github.com/': Failed to connect to github.com port 443 after 9 ms: Couldn't connect to server")),
			`Error: module a: github.com cannot be reached: no connection to github.com, port 443

Check the address of github.com, the network and the proxy settings.
`},
		{"git's own protocol is refused", fetchFrom("a", "git::git://h.example.com/net.git", saidBy("fatal: unable to connect to h.example.com:\nh.example.com[0: 192.0.2.1]: errno=Connection refused")),
			`Error: module a: h.example.com cannot be reached: connection refused

Check the address of h.example.com, the network and the proxy settings.
`},
		{"ssh is closed", fetchFrom("a", overSSH, saidBy("kex_exchange_identification: Connection closed by remote host\nConnection closed by 127.0.0.1 port 22")),
			`Error: module a: h.example.com:22 cannot be reached: the ssh server closed the connection

Check the address of h.example.com:22, the network and the proxy settings.
`},
		{"git is refused", fetchFrom("a", github, saidBy("fatal: unable to access 'https://github.com/': The requested URL returned error: 403")),
			`Error: module a: github.com answered 403 Forbidden: git has no credentials that it accepts

Set a credential helper for git that has a login for github.com: git cannot prompt for credentials here.
`},
		{"ssh refuses the keys", fetchFrom("a", overSSH, saidBy("root@h.example.com: Permission denied (publickey,password).")),
			"Error: module a: h.example.com:22 refused the login over ssh of the user root: permission denied (publickey,password)\n\n" +
				"Load a key that the server accepts into the ssh agent with `ssh-add`, or name it in ~/.ssh/config: ssh cannot prompt for passwords here.\n"},
	}
}

// TestProblems checks the text output for errors that depend on the machine and its network.
func TestProblems(t *testing.T) {
	t.Parallel()
	for _, test := range slices.Concat(machineProblems(), diskProblems(), sshProblems()) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var stderr bytes.Buffer
			(&output{stderr: &stderr, Run: advice.Run{Env: func(string) string { return "" }}}).printError(test.err)
			if diff := cmp.Diff(test.want, stderr.String()); diff != "" {
				t.Errorf("stderr (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReachedByName checks that the network is not said to be down if a server was reached.
func TestReachedByName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		address string
		want    bool
	}{{"registry.corp.example:443", true}, {"10.0.0.1:443", false}, {"[::1]:443", false}, {"localhost:443", false}} {
		var reached atomic.Bool
		dial := noteReached(&reached, new(fakeDialer).dial)
		if _, err := dial(t.Context(), "tcp", test.address); err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		(&output{stderr: &stderr, Run: advice.Run{Reached: &reached, Env: func(string) string { return "" }}}).printError(fetchFrom("a", github, lookupFailed("github.com", true)))
		if got := !strings.Contains(stderr.String(), "DNS is down"); got != test.want {
			t.Errorf("%s was reached: %s", test.address, &stderr)
		}
	}
}

type fakeDialer struct{}

func (*fakeDialer) dial(context.Context, string, string) (net.Conn, error) { return nil, nil }
