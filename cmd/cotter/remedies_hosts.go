package main

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/getproviders"
)

const (
	checkAddress = "Check the address, and the credentials for {names}, which `cotter doctor` shows."
	checkNetwork = "Check the network and the DNS settings of this machine."
	checkClock   = "Check the clock of this machine: it is probably behind."
	sshLogin     = "Load a key that the server accepts into the ssh agent with `ssh-add`, or name it in ~/.ssh/config: ssh cannot prompt for passwords here."
)

// unreachedRemedies calls known for hosts with a similar name only if there is no such host.
func unreachedRemedies(host string, name nameState, known func() []string) []remedy {
	switch {
	case name == nameNotAsked:
		return do(checkNetwork)
	case name == nameKnown:
		return about(host, "Check the address of {names}, the network and the proxy settings.")
	case slices.Contains(publicHosts, host):
		return about(host, "{names} exists. "+checkNetwork)
	}
	if near := nearest(host, known()); len(near) > 0 {
		return do("Check the spelling of " + host + ". " + didYouMean(near[:1])) // many hosts resemble each other
	}
	return about(host, "Check the spelling of {names}.")
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
	return fmt.Sprintf("Ask the owner of %s whether the key was replaced; otherwise another server answers in its place. If it was, run `ssh-keygen -R %s`, and compare the new key when you connect once with ssh by hand.", host, shellWord(known))
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
	return fmt.Sprintf("Run `tofu login %s`, set TF_TOKEN_%s, or %s.", shellWord(host), name, block)
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
