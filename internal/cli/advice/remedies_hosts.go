package advice

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/registryclient"
)

const (
	askOperator  = "Ask the operator of {names}."
	checkHost    = "Check the address of {names}, the network and the proxy settings."
	checkProxy   = "Check whether a proxy or the login page of a network answers in place of {names}. If none does, ask its operator."
	checkAddress = "Check the address, and the credentials for {names}, which `cotter doctor` shows."
	checkNetwork = "Check the network and the DNS settings of this machine."
	checkClock   = "Check the clock of this machine: it is probably behind."
	sshLogin     = "Load a key that the server accepts into the ssh agent with `ssh-add`, or name it in ~/.ssh/config: ssh cannot prompt for passwords here."
)

// hostRows are the rows of remedyTable about hosts and what they have answered.
var hostRows = []remedyRow{
	on(func(e *getmodules.GitWithheldError) []Remedy { return do(hostSetting(e.Host, e.Setting)) }),
	gitRemedies,
	on(func(e *httpx.NetworkError) []Remedy {
		if e.IsUntrusted() {
			return do(trust(e.Host(), e.Err))
		}
		return About(e.Host(), checkHost)
	}),
	statusRemedies,
	func(err error) []Remedy {
		if !isUnusable(err) {
			return nil
		}
		return About(hostOf(err), checkProxy)
	},
}

// gitRemedies is for what git or ssh has said about a host.
func gitRemedies(err error) []Remedy {
	e, ok := errors.AsType[*git.HostError](err)
	if !ok {
		return nil
	}
	host := e.Host()
	switch {
	case e.Fault == git.WebPage:
		return About(host, checkProxy)
	case e.Fault == git.OtherOwner:
		return do("If you trust it, add its directory to `safe.directory` in your git configuration.")
	case host == "":
		return nil
	case e.Fault == git.UnknownKey:
		return do(compareKey(host))
	case e.Fault == git.ChangedKey:
		return do(replaceKey(host))
	case e.Fault == git.ExpiredCertificate:
		return do(askForCertificate(host))
	case e.Fault == git.EarlyCertificate:
		return do(checkClock)
	case e.Fault == git.OtherCertificate:
		return do(checkName(host))
	case errors.Is(e.Is, getmodules.ErrHostUntrusted):
		return do(trustAuthority(true, runtime.GOOS))
	case errors.Is(e.Is, getmodules.ErrHostUnreachable):
		return About(host, checkHost)
	case errors.Is(e.Is, getmodules.ErrRepositoryNotFound):
		return About(host, checkAddress)
	case errors.Is(e.Is, getmodules.ErrAuthentication) && hostname.URLIn(e.URL).Scheme == "ssh":
		return do(sshLogin)
	case errors.Is(e.Is, getmodules.ErrAuthentication):
		return do(gitLogin(host))
	}
	return nil
}

// trust is for a certificate that our own clients do not trust.
func trust(host string, err error) string {
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return checkName(host)
	case !errors.As(err, &invalid) || invalid.Reason != x509.Expired || invalid.Cert == nil:
		return trustAuthority(false, runtime.GOOS)
	case time.Now().Before(invalid.Cert.NotBefore):
		return checkClock
	}
	return askForCertificate(host)
}

// statusRemedies is for an answer that is no success.
func statusRemedies(err error) []Remedy {
	status, ok := errors.AsType[*httpx.StatusError](err)
	if !ok {
		return nil
	}
	host := status.Answer.URL().Host
	kind := kindOfPackage(err)
	switch code := status.Answer.StatusCode; {
	case status.IsRefusal():
		return do(login(host, status, err))
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		return About(host, "Try again later, or ask the operator of {names}.")
	case errors.Is(err, disco.ErrNoServices):
		return About(host, "Check the spelling of {names}.")
	case code != http.StatusNotFound && code != http.StatusGone:
		return About(host, askOperator)
	case Is[*config.UnusableVersionError](err), Is[*getmodules.RefNotFoundError](err), Is[*getproviders.MirrorError](err):
		return nil // the text names other versions, or what the mirror lacks
	case Is[*registryclient.RequestError](err), kind != "" && (kind != "oci" || strings.HasPrefix(status.Answer.URL().Path, "/v2/")):
		return About(host, checkAddress)
	}
	return About(host, askOperator)
}

// login says how to add or to check the credentials that a host requires. They belong to the one in the address, which
// may have its registry or its token service on another.
func login(host string, status *httpx.StatusError, err error) string {
	owner := host
	request, isRegistry := errors.AsType[*registryclient.RequestError](err)
	archive, isProvider := errors.AsType[*getproviders.RefusedError](err)
	kind := kindOfPackage(err)
	if isRegistry {
		owner = cmp.Or(string(request.Package.Host), string(request.Provider.Hostname), host)
	} else if fetch, ok := errors.AsType[*getmodules.FetchError](err); ok && kind == "oci" {
		owner = hostname.URLIn(fetch.Package).Host
	}
	switch {
	case kind == "git": // the built-in client asks only for credentials in files of netrc
		return netrcLogin(owner) + " Or install git to use its credential helpers."
	case status.Answer.Authorized, kind == "gcs", kind == "s3":
		return checkLogin(owner)
	case isProvider:
		return archiveLogin(owner, archive)
	case isRegistry, Is[*disco.DiscoveryError](err):
		return registryLogin(owner)
	case kind == "oci":
		return fmt.Sprintf("Run `docker login %s`.", view.ShellWord(owner))
	}
	return netrcLogin(owner)
}

// kindOfPackage returns the getter or else the scheme of the package that an error is about, such as "git" or "oci"; "" if
// it is about no package.
func kindOfPackage(err error) string {
	fetch, ok := errors.AsType[*getmodules.FetchError](err)
	if !ok {
		return ""
	}
	kind, _, _ := strings.Cut(fetch.Package, ":")
	return kind
}

// hostOf returns the host that an error is about, or "": the one that was asked, before the one that the configuration
// names.
func hostOf(err error) string {
	for _, find := range []func(error) string{
		on(func(e *git.HostError) string { return e.Host() }),
		on(func(e *httpx.StatusError) string { return e.Answer.URL().Host }),
		on(func(e *httpx.NetworkError) string { return e.Host() }),
		on(func(e *httpx.PageError) string { return e.Host() }),
		on(func(e *disco.DiscoveryError) string { return string(e.Host) }),
		on(func(e *registryclient.RequestError) string { return hostname.URLIn(e.URL).Host }),
		on(func(e *getproviders.MirrorError) string { return hostname.URLIn(e.Location).Host }),
		on(func(e *getproviders.AuthenticationError) string { return hostname.URLIn(e.Location).Host }),
		on(func(e *getmodules.PageError) string { return hostname.URLIn(e.Package).Host }),
		on(func(e *getmodules.FetchError) string { return hostname.URLIn(e.Package).Host }),
	} {
		if host := find(err); host != "" {
			return host
		}
	}
	return ""
}

// unresolvedRemedies is for a host whose name was not resolved. known returns hosts that it may be instead.
func unresolvedRemedies(at lookup, known func() []string) []Remedy {
	switch {
	case at.name == nameNotAsked:
		return do(checkNetwork)
	case slices.Contains(publicHosts, at.host):
		return About(at.host, "{names} exists. "+checkNetwork)
	}
	if near := view.Nearest(at.host, known()); len(near) > 0 {
		return do("Check the spelling of " + at.host + ". " + view.DidYouMean(near[:1])) // many hosts resemble each other
	}
	return About(at.host, "Check the spelling of {names}.")
}

func gitLogin(host string) string {
	return fmt.Sprintf("Set a credential helper for git that has a login for %s: git cannot prompt for credentials here.", host)
}

func askForCertificate(host string) string {
	return fmt.Sprintf("Ask the operator of %s for a valid certificate. If it is valid, the clock of this machine is wrong: set it.", host)
}

func checkName(host string) string {
	return fmt.Sprintf("Check the spelling of %s, and whether a proxy or the login page of a network answers in its place.", host)
}

func compareKey(host string) string {
	return fmt.Sprintf("Compare the key with what the owner of %s says: connect once with ssh by hand, and add it to ~/.ssh/known_hosts.", host)
}

// replaceKey is for a host that had another key before.
func replaceKey(host string) string {
	known := host
	if name, port, err := net.SplitHostPort(host); err == nil && port == "22" {
		known = name
	} else if err == nil {
		known = "[" + name + "]:" + port // as in known_hosts
	}
	return fmt.Sprintf("Ask the owner of %s whether the key was replaced; otherwise another server answers in its place. If it was, run `ssh-keygen -R %s`, and compare the new key when you connect once with ssh by hand.", host, view.ShellWord(known))
}

// trustAuthority is about a certificate of an unknown authority, on the operating system that system names.
func trustAuthority(byGit bool, system string) string {
	text := "Behind a TLS proxy, set SSL_CERT_FILE to the file with its certificates"
	if store := certificateStore(system); store != "" {
		text = "Behind a TLS proxy, add its certificate to " + store
	}
	if byGit {
		text += "; for git, set GIT_SSL_CAINFO or http.sslCAInfo too"
	}
	return text + "."
}

// certificateStore returns "" for operating systems where Go reads SSL_CERT_FILE and SSL_CERT_DIR.
func certificateStore(system string) string {
	switch system {
	case "darwin", "ios":
		return "the system keychain, as trusted"
	case "windows":
		return "the trusted root certificates of Windows"
	}
	return ""
}

// hostSetting is for a setting of git that was not used because it names no host.
func hostSetting(host, setting string) string {
	key := strings.TrimPrefix(setting, "http.")
	if named, ok := map[string]string{"extraheader": "extraHeader", "sslcert": "sslCert", "sslkey": "sslKey", "GIT_SSL_CERT": "sslCert"}[key]; ok {
		key = named
	}
	return fmt.Sprintf("If it may go to %[1]s, name the host in git's setting: `git config --global http.https://%[1]s/.%[2]s VALUE`.", host, key)
}

// registryLogin does not offer TF_TOKEN_... for a host with a port, which a name cannot contain.
func registryLogin(host string) string {
	block := fmt.Sprintf("add a `credentials \"%s\"` block with a token to the CLI configuration", host)
	if strings.Contains(host, ":") {
		return strings.ToUpper(block[:1]) + block[1:] + "."
	}
	name := strings.NewReplacer(".", "_", "-", "__").Replace(host)
	return fmt.Sprintf("Run `tofu login %s`, set TF_TOKEN_%s, or %s.", view.ShellWord(host), name, block)
}

// archiveLogin is for a package of a provider, or what a mirror says of it.
func archiveLogin(host string, refused *getproviders.RefusedError) string {
	switch {
	case refused.Login == getproviders.LoginToken:
		return registryLogin(host)
	case refused.Login == getproviders.LoginNetrc:
		return netrcLogin(host)
	}
	return fmt.Sprintf("No credentials can be set for this URL. Ask the operator of %s to serve it without, or use a mirror.", host)
}

func checkLogin(host string) string {
	return fmt.Sprintf("Check that they are valid and allow this. `cotter doctor` shows where the credentials for %s come from.", host)
}

func netrcLogin(host string) string {
	return fmt.Sprintf("Add %s to ~/.netrc.", strings.TrimSuffix(host, ":443"))
}
