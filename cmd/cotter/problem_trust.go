package main

import (
	"cmp"
	"crypto/x509"
	"errors"
	"runtime"
	"strings"
	"time"

	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/httpx"
)

func untrusted(host string, err error) *problem {
	network, ok := errors.AsType[*httpx.NetworkError](err)
	said := strings.ToLower(err.Error()) // git, ssh and the built-in client have no codes for these
	var fault certificateFault
	byGit := false
	switch {
	case ok && network.IsUntrusted(), errors.Is(err, disco.ErrUntrusted):
		fault = certificateFaultOf(err, host)
	case !errors.Is(err, getmodules.ErrHostUntrusted):
		return nil
	case strings.Contains(said, "certificate"):
		fault, byGit = gitCertificateFault(said, host), true
	case strings.Contains(said, "remote host identification has changed"), strings.Contains(said, "another key"):
		return &problem{error: fact(host + " has another ssh key than the known one"), remedies: do(compareKey(host))}
	default:
		return &problem{error: fact(host + "'s ssh key is not known on this machine"), remedies: do(compareKey(host))}
	}
	return &problem{error: fact(host + "'s certificate is not trusted" + fault.reason), remedies: do(cmp.Or(fault.remedy, trustAuthority(byGit, runtime.GOOS)))}
}

// certificateFault says why a certificate is not trusted. The remedy is "" if its authority is not known.
type certificateFault struct{ reason, remedy string }

func certificateFaultOf(err error, host string) certificateFault {
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &name):
		return certificateFault{": it " + strings.TrimPrefix(name.Error(), "x509: certificate "), checkName(host)}
	case errors.As(err, &unknown):
		return certificateFault{": it is signed by an unknown authority", ""}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil && time.Now().Before(invalid.Cert.NotBefore):
		return certificateFault{": it is valid only from " + minute(invalid.Cert.NotBefore) + " on", checkClock}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return certificateFault{": it expired on " + minute(invalid.Cert.NotAfter), askForCertificate(host)}
	}
	return certificateFault{}
}

func minute(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 MST") }

// gitCertificateFault is certificateFaultOf for a message of git in lower case.
func gitCertificateFault(said, host string) certificateFault {
	switch {
	case strings.Contains(said, "certificate has expired"), strings.Contains(said, "expired certificate"):
		return certificateFault{": it has expired", askForCertificate(host)}
	case strings.Contains(said, "certificate is not yet valid"), strings.Contains(said, "not yet activated"):
		return certificateFault{": it is not yet valid", checkClock}
	case strings.Contains(said, "subject name"), strings.Contains(said, "name does not match"):
		return certificateFault{": it is for another host", checkName(host)}
	}
	return certificateFault{}
}
