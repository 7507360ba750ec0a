package main

import (
	"crypto/x509"
	"os"

	"github.com/cotterpin/cotter/internal/testenv"
)

// trustCertificateFile makes this process trust the certificates in SSL_CERT_FILE on Windows and macOS
// too. It is for the command that tests start, with the GODEBUG of [testenv.Variables]. Elsewhere Go reads
// the file itself. Call it once.
func trustCertificateFile() error {
	name := os.Getenv("SSL_CERT_FILE")
	if !testenv.IgnoresCertificateFile() || name == "" {
		return nil
	}
	roots := x509.NewCertPool()
	switch data, err := os.ReadFile(name); {
	case os.IsNotExist(err): // then no certificate is trusted, as on other systems
	case err != nil:
		return err
	default:
		roots.AppendCertsFromPEM(data)
	}
	x509.SetFallbackRoots(roots)
	return nil
}
