package initwd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/cotterpin/cotter/modtest"
)

// acctest is the module that OpenTofu's tests install, as far as they need it.
const acctest = `
-- root.tf --
variable "v" {
  description = "in root module"
}
module "child_a" {
  source = "./modules/child_a"
}
-- modules/child_a/child_a.tf --
variable "v" {
  description = "in child_a module"
}
module "child_b" {
  source = "../child_b"
}
-- modules/child_b/child_b.tf --
variable "v" {
  description = "in child_b module"
}
-- examples/main/example.tf --
variable "v" {
  description = "in example"
}
module "root" {
  source  = "hashicorp/module-installer-acctest/aws"
  version = "0.0.2"
}
`

const (
	acctestPackage = "hashicorp/module-installer-acctest/aws"
	acctestGit     = "/hashicorp/terraform-aws-module-installer-acctest.git"
)

// init serves what OpenTofu's tests need of registry.opentofu.org and github.com, and sets TF_ACC, without which they
// are skipped. Go and git read from the environment that a proxy connects them to both hosts, and which certificates
// to trust. On macOS and Windows, Go does not read the latter, so this file is for Linux only.
func init() {
	var tree strings.Builder
	var locations []modtest.Fault
	for _, version := range []string{"0.0.1", "0.0.2", "0.0.3-alpha.1"} {
		tree.WriteString(strings.ReplaceAll(acctest, "\n-- ", "\n-- registry/"+acctestPackage+"/"+version+"/"))
		locations = append(locations, modtest.Fault{
			Path:   "/v1/modules/" + acctestPackage + "/" + version + "/download",
			Header: http.Header{"X-Terraform-Get": {"git::https://github.com" + acctestGit + "?ref=v" + version}},
		})
	}
	world, err := modtest.Start(modtest.Txtar(tree.String()), modtest.Options{HeaderLocations: true, Faults: locations})
	must(err)
	target, err := url.Parse(world.PlainURL())
	must(err)
	servers := httptest.NewUnstartedServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.URL.Path = strings.Replace(r.Out.URL.Path, acctestGit, "/git/registry/"+acctestPackage+".git", 1)
	}})
	certificate, certificateFile := newCertificate("registry.opentofu.org", "github.com")
	servers.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	servers.StartTLS()
	proxy := httptest.NewServer(tunnel(servers.Listener.Addr().String()))
	for name, value := range map[string]string{
		"TF_ACC":         "1",
		"HTTPS_PROXY":    proxy.URL,
		"https_proxy":    proxy.URL,
		"NO_PROXY":       "",
		"no_proxy":       "",
		"SSL_CERT_FILE":  certificateFile,
		"GIT_SSL_CAINFO": certificateFile,
	} {
		must(os.Setenv(name, value))
	}
}

// tunnel is a proxy that connects to one address, whichever host is asked for.
func tunnel(address string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		server, err := net.Dial("tcp", address)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer server.Close()
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer client.Close()
		_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
		go func() {
			_, _ = io.Copy(server, client)
			_ = server.Close()
		}()
		_, _ = io.Copy(client, server)
	}
}

// newCertificate returns a certificate for names, and the file with which clients trust it.
func newCertificate(names ...string) (tls.Certificate, string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(err)
	file, err := os.CreateTemp("", "cotter-certificate-")
	must(err)
	must(pem.Encode(file, &pem.Block{Type: "CERTIFICATE", Bytes: der}))
	must(file.Close())
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file.Name()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
