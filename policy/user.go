package policy

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// UserSettings are the settings of a user. The zero value sets nothing.
type UserSettings struct {
	// Mirrors are the mirrors that the user names, and which therefore confirm entries of locks.
	Mirrors []Mirror
	// TrustMirrors are the mirrors that confirm entries if a project names them.
	TrustMirrors []MirrorPattern
	// PlainHTTP lists OCI registries, as HOST or HOST:PORT in lower case, that are asked over http.
	PlainHTTP []string
	// S3Endpoints lists servers other than Amazon's that may get the user's AWS credentials, as
	// https://HOST or http://HOST, possibly with a port.
	S3Endpoints []string
	// LocalHosts lists hosts, as HOST or HOST:PORT in lower case, that servers and packages may point to
	// although they are on this machine.
	LocalHosts []string
}

// ParseUserSettings parses the settings of a user. They are nil if there are errors.
func ParseUserSettings(src []byte, filename string) (*UserSettings, hcl.Diagnostics) {
	blocks, rest, diags := settingsPart.read(src, filename, mirrorHeader)
	if rest == nil {
		return nil, diags
	}
	u := &UserSettings{}
	_, problems := settingsPart.readArguments(rest, arguments{
		"trust_mirrors": list(&u.TrustMirrors, 0, "addresses", parsed("address", parseMirrorPattern)),
		"trust_keys":    noSignatures,
		"plain_http":    list(&u.PlainHTTP, 0, "hosts", parsed("host", parseHost)),
		"s3_endpoints":  list(&u.S3Endpoints, 0, "servers", parsed("server", parseEndpoint)),
		"local_hosts":   list(&u.LocalHosts, 0, "hosts", parsed("host", parseHost)),
	})
	if diags = append(diags, problems...); diags.HasErrors() {
		return nil, diags
	}
	if u.Mirrors, diags = readMirrors(blocks); diags.HasErrors() {
		return nil, diags
	}
	return u, nil
}

func parseHost(text string) (string, error) {
	u, err := url.Parse("//" + text)
	if err != nil || u.Host != text || u.Hostname() == "" || u.User != nil {
		return "", fmt.Errorf("%q is not HOST or HOST:PORT", text)
	}
	return strings.ToLower(text), nil
}

func parseEndpoint(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Scheme+"://"+u.Host != strings.TrimSuffix(text, "/") {
		return "", fmt.Errorf("%q is not https://HOST[:PORT] or http://HOST[:PORT]", text)
	}
	return strings.TrimSuffix(text, "/"), nil
}

func (u *UserSettings) trusts(address string) bool {
	return blockOf(u.Mirrors, address) != nil ||
		slices.ContainsFunc(u.TrustMirrors, func(pattern MirrorPattern) bool { return pattern.Matches(address) })
}

// UsedMirror is a mirror that a run reads from, with the degree to which it is trusted.
type UsedMirror struct {
	// Address is oci://HOST/REPOSITORY.
	Address string
	// Trusted says that the user trusts the mirror, so that it confirms entries as an origin does.
	Trusted bool
	// Write says that packages from origins are pushed to the mirror, WriteRefused that the project
	// requests this for a mirror that the user does not trust.
	Write, WriteRefused bool
}

// Mirrors returns the mirrors of a run in the order in which they are asked: the user's, then the
// project's, or only named, the address that the user gave for this run, unless it is "". Nil settings set
// nothing.
//
// A mirror that only a project names confirms nothing, unless the user trusts its address: otherwise the
// author of a cotter.hcl could name one that confirms any lock.
func Mirrors(user *UserSettings, project *Settings, named string) []UsedMirror {
	user, project = cmp.Or(user, &UserSettings{}), cmp.Or(project, &Settings{})
	addresses := []string{normalAddress(named)}
	if named == "" {
		addresses = nil
		for _, m := range slices.Concat(user.Mirrors, project.Mirrors) {
			if !slices.Contains(addresses, m.Address) {
				addresses = append(addresses, m.Address)
			}
		}
	}
	var used []UsedMirror
	for _, address := range addresses {
		m := UsedMirror{Address: address, Trusted: named != "" || user.trusts(address)}
		ours, theirs := blockOf(user.Mirrors, address), blockOf(project.Mirrors, address)
		if theirs != nil {
			m.Write, m.WriteRefused = theirs.Write && m.Trusted, theirs.Write && !m.Trusted
		}
		if ours != nil {
			m.Write = ours.Write
		}
		used = append(used, m)
	}
	return used
}

func blockOf(mirrors []Mirror, address string) *Mirror {
	if i := slices.IndexFunc(mirrors, func(m Mirror) bool { return m.Address == address }); i >= 0 {
		return &mirrors[i]
	}
	return nil
}
