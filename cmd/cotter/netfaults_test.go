package main

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"io/fs"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

const faultsWorld = `
-- registry/acme/net/aws/1.0.0/main.tf --
# registry
-- git/tools.git/v1.0.0/main.tf --
# git
-- archives/keep.zip/main.tf --
# keep
-- archives/n.zip/main.tf --
# zip
-- archives/n.tar.gz/main.tf --
# tar
-- oci/db/1.0.0/main.tf --
# oci
-- project/main.tf --
module "keep" {
  source = "https://MODTEST_HOST/archives/keep.zip"
}
`

// faultCalls are the module calls that meet a fault. HOST stands for the server with the
// fault.
var faultCalls = map[string]string{
	"registry": "source  = \"HOST/acme/net/aws\"\n  version = \"~> 1.0\"",
	"git":      `source = "git::https://HOST/git/tools.git?ref=v1.0.0"`,
	"zip":      `source = "https://HOST/archives/n.zip"`,
	"tar":      `source = "https://HOST/archives/n.tar.gz"`,
	"oci":      `source = "oci://HOST/db?tag=1.0.0"`,
}

// netFault is a fault of the network or a server, and the expected message.
type netFault struct {
	name string
	call string // a key of faultCalls
	// fault is the fault of the servers; host is an unusable host that replaces them.
	fault modtest.Fault
	host  string
	// says must be in the message, in addition to the call with its file and line. If it is
	// empty, the installation must succeed.
	says []string
}

// serverFaults are answers of servers. Which answers each client refuses or asks for again is proven in its
// package; these are samples, with their messages.
func serverFaults() []netFault {
	const discovery, versions, location, archives = "/.well-known/", "/v1/modules/acme/net/aws/versions", "/v1/modules/acme/net/aws/1.0.0/download", "/archives/n."
	row := func(call, name string, fault modtest.Fault, says ...string) netFault {
		return netFault{name: name, call: call, fault: fault, says: says}
	}
	answer := func(path string, status int, headers ...string) modtest.Fault {
		fault := modtest.Fault{Path: path, Status: status, Header: http.Header{}}
		for _, header := range headers {
			name, value, _ := strings.Cut(header, ": ")
			fault.Header.Set(name, value)
		}
		return fault
	}
	page := func(path string) modtest.Fault {
		return modtest.Fault{Path: path, Status: http.StatusOK, Body: "<html>log in</html>", Header: http.Header{"Content-Type": {"text/html"}}}
	}
	once := func(fault modtest.Fault) modtest.Fault {
		fault.Times = 1
		return fault
	}
	services := answer(discovery, http.StatusOK, "Content-Type: application/json")
	services.Body = `{"modules.v1": "https://nowhere.invalid/v1/"}`
	const forLong, metadata = "Retry-After: 3600", "https://169.254.169.254/latest/m.zip"
	return []netFault{
		row("registry", "discovery is a web page", page(discovery), "HOST", "text/html"),
		row("registry", "services at no host", services, "nowhere.invalid cannot be reached: there is no such host"),
		row("registry", "versions 401", answer(versions, 401), "401", "credentials"),
		row("registry", "versions 404", answer(versions, 404), "404 Not Found"),
		row("registry", "versions 429 for long", answer(versions, 429, forLong), "429", "1h0m0s"),
		row("registry", "versions 502 once", once(answer(versions, 502))),
		row("registry", "versions cut off", modtest.Fault{Path: versions, Truncate: true}, "unexpected EOF"),
		row("registry", "versions on a web page", page(versions), "JSON"),
		row("registry", "no location", answer(location, 204), "location"),
		row("registry", "location is a file", answer(location, 204, "X-Terraform-Get: file:///etc"), "file:"),
		row("registry", "location is the metadata service", answer(location, 204, "X-Terraform-Get: "+metadata), "169.254.169.254", "refused"),
		row("zip", "401", answer(archives, 401), "401", "credentials"),
		row("zip", "404", answer(archives, 404), "404"),
		row("zip", "429 for long", answer(archives, 429, forLong), "429", "1h0m0s"),
		row("zip", "503", answer(archives, 503), "503"),
		row("zip", "500 once", once(answer(archives, 500))),
		row("zip", "cut off", modtest.Fault{Path: archives, Truncate: true}, "unexpected EOF"),
		row("zip", "cut off once", once(modtest.Fault{Path: archives, Truncate: true})),
		row("zip", "empty", answer(archives, 200), "archive"),
		row("zip", "a web page", page(archives), "archive"),
		row("tar", "no archive", modtest.Fault{Path: archives, Status: 200, Body: "hello, this is no archive at all"}, "archive"),
		row("zip", "redirects for ever", answer(archives, 302, "Location: https://MODTEST_HOST/archives/n.zip"), "redirect"),
		row("zip", "redirect to http", answer(archives, 302, "Location: http://MODTEST_HOST/archives/n.zip"), "redirects from https to http"),
		row("zip", "redirect to the metadata service", answer(archives, 302, "Location: "+metadata), "169.254.169.254", "redirect"),
		row("git", "401", answer("/git/tools", 401, "WWW-Authenticate: Basic"), "HOST requires credentials, and git has none that it accepts"),
		row("git", "404", answer("/git/tools", 404), "there is no repository https://HOST/git/tools.git"),
		row("git", "429 for long", answer("/git/tools", 429, forLong), "429", "1h0m0s"),
		row("git", "503 once", once(answer("/git/tools", 503))),
		row("git", "a web page", page("/git/tools"), "page"),
		row("git", "pack cut off", modtest.Fault{Path: "/git/tools.git/git-upload-pack", Truncate: true}, "HOST/git/tools.git"),
		row("oci", "token 401", answer("/oci/token", 401), "401"),
		row("oci", "manifest 404", answer("/v2/db/manifests/", 404), "1.0.0", "404 Not Found"),
		row("oci", "manifest 503 once", once(answer("/v2/db/manifests/", 503))),
		row("oci", "blob cut off", modtest.Fault{Path: "/v2/db/blobs/", Truncate: true}, "HOST/db"),
		row("oci", "another blob", modtest.Fault{Path: "/v2/db/blobs/", Status: 200, Body: "x"}, "HOST/db"),
	}
}

// connectionFaults are faults before the first request. It also returns the certificates of those of its
// servers that the user trusts.
func connectionFaults(t *testing.T) (rows []netFault, trusted []byte) {
	t.Helper()
	serve := func(certificate *tls.Certificate) (host string) {
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.Config.ErrorLog = discardLog
		if certificate != nil {
			server.TLS = &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12}
			trusted = append(trusted, asPEM(certificate.Certificate[0])...)
		}
		server.StartTLS()
		t.Cleanup(server.Close)
		return server.Listener.Addr().String()
	}
	unknown := serve(nil)
	for _, call := range []string{"registry", "git", "zip", "oci"} {
		refused := "HOST cannot be reached: connection refused"
		if call == "git" { // git words it differently
			refused = "HOST cannot be reached: no connection to "
		}
		rows = append(rows,
			netFault{name: "connection refused", call: call, host: "127.0.0.1:1", says: []string{refused}},
			netFault{name: "no such host", call: call, host: "nowhere.invalid", says: []string{"HOST cannot be reached: there is no such host"}},
			netFault{name: "unknown authority", call: call, host: unknown, says: []string{"certificate"}},
		)
	}
	now := time.Now()
	return append(rows,
		netFault{name: "certificate for another host", call: "registry", host: serve(certificateFor(t, "127.0.0.2", now.AddDate(0, 0, 7))), says: []string{"certificate", "127.0.0.1"}},
		netFault{name: "certificate expired", call: "zip", host: serve(certificateFor(t, "127.0.0.1", now.AddDate(0, 0, -7))), says: []string{"expired"}},
		netFault{name: "reset", call: "zip", host: resetting(t), says: []string{"reset"}},
	), trusted
}

// resetting returns the address of a server that resets all connections.
func resetting(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}

// kind is the kind of the host, and whether it cannot be reached or answers something wrong.
func (f netFault) kind() string {
	if f.host != "" {
		return f.call + ", unusable host"
	}
	return f.call + ", answer"
}

// TestNetworkFaults adds a call to an installed project, and fetching its module fails. The
// message must name the problem and the call, and the project must be unchanged. Without the
// fault, the same command must succeed.
func TestNetworkFaults(t *testing.T) {
	t.Parallel()
	faults, trusted := connectionFaults(t)
	for _, fault := range testenv.Sample(slices.Concat(faults, serverFaults()), netFault.kind) {
		t.Run(fault.call+"/"+fault.name, func(t *testing.T) {
			t.Parallel()
			fault.test(t, trusted)
		})
	}
}

func (f *netFault) test(t *testing.T, trusted []byte) {
	s := newSite(t, modtest.NewWith(t, modtest.Txtar(faultsWorld), modtest.Options{OCIBearer: true}), "TF_REGISTRY_DISCOVERY_RETRY=1")
	if f.call == "git" {
		s.env = append(s.env, "COTTER_GIT_BACKEND=auto")
	}
	for _, entry := range s.world.Env() {
		if name, ok := strings.CutPrefix(entry, "SSL_CERT_FILE="); ok {
			certificates := filepath.Join(s.home, "ca.pem")
			testenv.WriteFile(t, certificates, string(readFile(t, name))+string(trusted))
			s.env = append(s.env, "SSL_CERT_FILE="+certificates, "GIT_SSL_CAINFO="+certificates)
		}
	}
	testenv.Must(t, s.world.WriteTree(s.project, "project"))
	s.mustRun(t, "install")
	call := func(host string) {
		s.write(t, "more.tf", strings.ReplaceAll("module \"new\" {\n  "+faultCalls[f.call]+"\n}\n", "HOST", host))
	}
	host := cmp.Or(f.host, string(s.world.Host()))
	call(host)
	s.world.SetFaults(f.fault)
	s.world.ResetRequests()
	before := picture(t, s.project)
	end := s.run("install")
	if f.says == nil {
		if end.status != 0 {
			t.Errorf("status %d, want 0: it passes\n%s", end.status, end.out)
		}
		return
	}
	if end.status != 1 {
		t.Errorf("status %d, want 1\n%s", end.status, end.out)
	}
	f.checkMessage(t, strings.ReplaceAll(end.out, host, "HOST"))
	if diff := differing(before, picture(t, s.project)); diff != "" {
		t.Errorf("it wrote something (-before +after):\n%s", diff)
	}
	if n := len(s.world.Requests()); f.fault.Header.Get("Retry-After") == "3600" && n > 3 {
		t.Errorf("the servers were asked %d times", n)
	}
	for _, stage := range []string{s.locate(modules + ".cotter/stage"), s.locate("@cache/stage")} {
		_ = filepath.WalkDir(stage, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				t.Errorf("left behind: %s", name)
			}
			return err
		})
	}
	s.world.SetFaults()
	call(string(s.world.Host()))
	s.mustRun(t, "install")
	if got := picture(t, s.project)[modules+"modules.json"]; !strings.Contains(got, `"new"`) {
		t.Errorf("without the fault: modules.json is %s", got)
	}
}

// checkMessage checks the message about the fault: it appears once, and for no other module.
func (f *netFault) checkMessage(t *testing.T, out string) {
	t.Helper()
	for _, text := range append(f.says, "module new (more.tf:2)") {
		if !strings.Contains(out, text) {
			t.Errorf("the message has no %q:\n%s", text, out)
		}
	}
	if n := strings.Count(out, "Error:"); n != 1 || strings.Contains(out, "module keep") {
		t.Errorf("%d errors, want one, of the new module:\n%s", n, out)
	}
	for _, text := range []string{"panic", "goroutine ", "%!", "\x00"} {
		if strings.Contains(out, text) {
			t.Errorf("the message has %q:\n%s", text, out)
		}
	}
}

// discardLog is for servers whose clients fail on purpose.
var discardLog = log.New(io.Discard, "", 0)

func certificateFor(t *testing.T, ip string, expires time.Time, names ...string) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testenv.Must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "netfaults " + ip + expires.String()},
		NotBefore: expires.AddDate(0, -1, 0), NotAfter: expires,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.ParseIP(ip)}, DNSNames: names,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	testenv.Must(t, err)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func asPEM(certificate []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
}
