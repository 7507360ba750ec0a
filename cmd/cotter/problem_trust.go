package main

import (
	"crypto/x509"
	"errors"
	"strings"
	"time"

	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/httpx"
)

func untrusted(host string, err error) *problem {
	network, ok := errors.AsType[*httpx.NetworkError](err)
	text := host + "'s certificate is not trusted"
	switch {
	case ok && network.IsUntrusted(), errors.Is(err, disco.ErrUntrusted):
		reason, fault := certificateReason(err)
		return &problem{error: &untrustedHost{fact: fact(text + reason), host: host, fault: fault}}
	case !errors.Is(err, getmodules.ErrHostUntrusted):
		return nil
	}
	said := strings.ToLower(err.Error()) // git, ssh and the built-in client have no codes for these
	switch {
	case strings.Contains(said, "certificate"):
		reason, fault := gitCertificateReason(said)
		return &problem{error: &untrustedHost{fact: fact(text + reason), host: host, fault: fault, byGit: true}}
	case strings.Contains(said, "remote host identification has changed"), strings.Contains(said, "another key"):
		return &problem{error: &unknownHostKey{fact: fact(host + " has another ssh key than the known one"), host: host}}
	}
	return &problem{error: &unknownHostKey{fact: fact(host + "'s ssh key is not known on this machine"), host: host}}
}

func certificateReason(err error) (reason string, fault certificateFault) {
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return ": it " + strings.TrimPrefix(name.Error(), "x509: certificate "), faultName
	case errors.As(err, &unknown):
		return ": it is signed by an unknown authority", faultAuthority
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil && time.Now().Before(invalid.Cert.NotBefore):
		return ": it is valid only from " + minute(invalid.Cert.NotBefore) + " on", faultNotYetValid
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return ": it expired on " + minute(invalid.Cert.NotAfter), faultExpired
	}
	return "", faultAuthority
}

func minute(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 MST") }

// gitCertificateReason is certificateReason for a message of git in lower case.
func gitCertificateReason(said string) (reason string, fault certificateFault) {
	switch {
	case strings.Contains(said, "certificate has expired"), strings.Contains(said, "expired certificate"):
		return ": it has expired", faultExpired
	case strings.Contains(said, "certificate is not yet valid"), strings.Contains(said, "not yet activated"):
		return ": it is not yet valid", faultNotYetValid
	case strings.Contains(said, "subject name"), strings.Contains(said, "name does not match"):
		return ": it is for another host", faultName
	}
	return "", faultAuthority
}
