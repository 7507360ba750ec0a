package main

import (
	"cmp"
	"crypto/x509"
	"errors"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/httpx"
)

func untrusted(host string, err error) *problem {
	network, ok := errors.AsType[*httpx.NetworkError](err)
	byGit := false
	switch fault := said(err).Fault; {
	case ok && network.IsUntrusted(), errors.Is(err, disco.ErrUntrusted):
	case !errors.Is(err, getmodules.ErrHostUntrusted):
		return nil
	case slices.Contains([]git.Fault{git.BadCertificate, git.ExpiredCertificate, git.EarlyCertificate, git.OtherCertificate}, fault):
		byGit = true
	case fault == git.ChangedKey:
		return say(host+" has another ssh key than the known one", do(replaceKey(host)))
	default:
		return say(host+"'s ssh key is not known on this machine", do(compareKey(host)))
	}
	reason, remedy := certificateFault(err, host)
	return say(host+"'s certificate is not trusted"+reason, do(cmp.Or(remedy, trustAuthority(byGit, runtime.GOOS))))
}

// certificateFault says why a certificate is not trusted. The remedy is "" if its authority is not known.
func certificateFault(err error, host string) (reason, remedy string) {
	var name x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	fault := said(err).Fault
	switch {
	case errors.As(err, &name):
		return ": it " + strings.TrimPrefix(name.Error(), "x509: certificate "), checkName(host)
	case errors.As(err, &unknown):
		return ": it is signed by an unknown authority", ""
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil && time.Now().Before(invalid.Cert.NotBefore):
		return ": it is valid only from " + minute(invalid.Cert.NotBefore) + " on", checkClock
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		return ": it expired on " + minute(invalid.Cert.NotAfter), askForCertificate(host)
	case fault == git.ExpiredCertificate:
		return ": it has expired", askForCertificate(host)
	case fault == git.EarlyCertificate:
		return ": it is not yet valid", checkClock
	case fault == git.OtherCertificate:
		return ": it is for another host", checkName(host)
	}
	return "", ""
}

func minute(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 MST") }
