package testenv

import (
	"crypto/x509"
	"os"
	"runtime"
)

// ignoresCertificateFile reports whether Go asks this operating system which certificates are trusted,
// and does not read SSL_CERT_FILE.
func ignoresCertificateFile() bool {
	return runtime.GOOS == "windows" || runtime.GOOS == "darwin"
}

// TrustCertificateFile makes this process trust the certificates in SSL_CERT_FILE on Windows and macOS
// too. It is for programs of ours that tests start, with the GODEBUG of [Variables]. Elsewhere Go reads
// the file itself. Call it once.
func TrustCertificateFile() error {
	name := os.Getenv("SSL_CERT_FILE")
	if !ignoresCertificateFile() || name == "" {
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
