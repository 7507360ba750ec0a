package cliconfig

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/net/idna"

	"github.com/cotterpin/cotter/addrs"
)

// tokenPrefix begins the names of variables that hold tokens.
const tokenPrefix = "TF_TOKEN_"

// addEnvironment adds what an environment says. Tokens whose names stand for no
// host are skipped, as in stock tools: other programs may use the prefix too.
func (c *Config) addEnvironment(s Source) hcl.Diagnostics {
	for _, entry := range s.Environ {
		name, token, _ := strings.Cut(entry, "=")
		encoded, ok := strings.CutPrefix(name, tokenPrefix)
		if !ok {
			continue
		}
		if host, err := addrs.ParseHostname(decodeHost(encoded)); err == nil {
			c.environ[host] = credentials{token: NewToken(token)}
		}
	}
	return c.addProtocols(s)
}

// decodeHost undoes the encoding of a host in the name of a variable, where
// most shells allow letters, digits and underscores only.
func decodeHost(encoded string) string {
	host := strings.ReplaceAll(encoded, "__", "-")
	host = strings.ReplaceAll(host, "_", ".")
	name, port, hasPort := strings.Cut(host, ":")
	// Addresses are never written in punycode, but variables have to be.
	if unicode, err := idna.ToUnicode(name); err == nil {
		name = unicode
	}
	if hasPort {
		name += ":" + port
	}
	return name
}
