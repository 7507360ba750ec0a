package main

import (
	"fmt"
	"strings"
)

// trustHost is about a certificate that is not trusted, on the operating system that system names.
func trustHost(e *untrustedHost, system string) []remedy {
	switch e.fault {
	case faultExpired:
		return do(fmt.Sprintf("Ask the operator of %s for a valid certificate. If it is valid, the clock of this machine is wrong: set it.", e.host))
	case faultNotYetValid:
		return do("Check the clock of this machine: it is probably behind.")
	case faultName:
		return do(fmt.Sprintf("Check the spelling of %s, and whether a proxy or the login page of a network answers in its place.", e.host))
	case faultAuthority:
	}
	text := "Behind a TLS proxy, set SSL_CERT_FILE to the file with its certificates"
	if store := certificateStore(system); store != "" {
		text = "Behind a TLS proxy, add its certificate to " + store
	}
	if e.byGit {
		text += "; for git, set GIT_SSL_CAINFO or http.sslCAInfo too"
	}
	return do(text + ".")
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

func (e *refusedLogin) remedies() []remedy {
	switch {
	case e.sent:
		return do(checkLogin(e.host))
	case e.to == loginRegistry:
		return do(registryLogin(e.host))
	case e.to == loginOCI:
		return do(fmt.Sprintf("Run `docker login %s`.", shellWord(e.host)))
	case e.to == loginSSH:
		return do("Load a key that the server accepts into the ssh agent with `ssh-add`, or name it in ~/.ssh/config: ssh cannot prompt for passwords here.")
	case e.withheld != "":
		key := strings.TrimPrefix(e.withheld, "http.")
		if named, ok := map[string]string{"extraheader": "extraHeader", "sslcert": "sslCert", "sslkey": "sslKey", "GIT_SSL_CERT": "sslCert"}[key]; ok {
			key = named
		}
		return do(fmt.Sprintf("If it may go to %[1]s, name the host in git's setting: `git config --global http.https://%[1]s/.%[2]s VALUE`.", e.host, key))
	case e.to == loginGit:
		return do("Set a credential helper for git, or load a key into the ssh agent: git cannot prompt for credentials here.")
	}
	return do(netrcLogin(e.host))
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

func checkLogin(host string) string {
	return fmt.Sprintf("Check that they are valid and allow this. `cotter doctor` shows where the credentials for %s come from.", host)
}

func netrcLogin(host string) string {
	name, _, _ := strings.Cut(host, ":")
	return fmt.Sprintf("Add %s to ~/.netrc.", name)
}
