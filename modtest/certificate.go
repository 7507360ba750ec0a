package modtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// certificateLife is long enough for a demonstration that keeps running, and short enough for every
// client's limit.
const certificateLife = 30 * 24 * time.Hour

// No system trusts an authority.
type authority struct {
	pool   *x509.CertPool
	pem    []byte
	server tls.Certificate
}

// processAuthority is that of all worlds of this process, so that a program that trusts one trusts all.
var processAuthority = sync.OnceValues(newAuthority)

// newAuthority creates an authority and a server certificate: some TLS libraries refuse one that is both.
func newAuthority() (*authority, error) {
	now := time.Now()
	ca := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "modtest authority"},
		NotBefore:             now.Add(-time.Hour), // the clock of a child in a virtual machine may lag
		NotAfter:              now.Add(certificateLife),
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2),
		Subject:      pkix.Name{CommonName: "modtest server"},
		NotBefore:    ca.NotBefore,
		NotAfter:     ca.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{"localhost", exampleDomain, "*." + exampleDomain},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	caKey, caDER, err := sign(ca, ca, nil)
	if err != nil {
		return nil, err
	}
	leafKey, leafDER, err := sign(leaf, ca, caKey)
	if err != nil {
		return nil, err
	}
	a := &authority{
		pool:   x509.NewCertPool(),
		pem:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}),
		server: tls.Certificate{Certificate: [][]byte{leafDER, caDER}, PrivateKey: leafKey},
	}
	if !a.pool.AppendCertsFromPEM(a.pem) {
		return nil, fmt.Errorf("the certificate of the authority cannot be read back")
	}
	return a, nil
}

// sign creates a key for cert, and signs cert with the parent's key or, if that is nil, with its own.
func sign(cert, parent *x509.Certificate, parentKey crypto.Signer) (crypto.Signer, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if parentKey == nil {
		parentKey = key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, key.Public(), parentKey)
	return key, der, err
}
