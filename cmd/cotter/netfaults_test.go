package main

import (
	"crypto/tls"
	"io"
	"io/fs"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

	// at is a part of the request paths that meet the fault, and answer is the answer to
	// them. With connection or certificate, at is "".
	at          string
	answer      answering
	connection  func(net.Conn)
	certificate *tls.Certificate
	// host is an unusable host that replaces the server with a fault.
	host string
	// times is how many requests for each path meet the fault; zero means all.
	times int

	// asked is how many faulty requests for one path are allowed; zero means that any number
	// is.
	asked int

	// says must be in the message, in addition to the call with its file and line. If it is
	// empty, the installation must succeed.
	says []string
}

// discardLog is for servers whose clients fail on purpose.
var discardLog = log.New(io.Discard, "", 0)

// TestNetworkFaults adds a call to an installed project, and fetching its module fails. The
// message must name the problem and the call, and the project must be unchanged. Without the
// fault, the same command must succeed.
//
// Many faults are tried at the same time, because most of the time is spent waiting to
// repeat a request.
func TestNetworkFaults(t *testing.T) {
	t.Parallel()
	s := newFaultSite(t)
	var wait sync.WaitGroup
	slots := make(chan struct{}, 12)
	for _, fault := range testenv.Sample(s.faults) {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			t.Run(fault.call+"/"+fault.name, func(t *testing.T) { s.check(t, &fault) })
		})
	}
	wait.Wait()
}

// faultSite is the installed project with which all rows begin.
type faultSite struct {
	*site
	faults []netFault
	good   *tls.Certificate // the certificate of all servers without a fault
}

func newFaultSite(t *testing.T) *faultSite {
	t.Helper()
	world := modtest.NewWith(t, modtest.Txtar(faultsWorld), modtest.Options{OCIBearer: true})
	s := &faultSite{site: newSite(t, world)}
	if err := world.WriteTree(s.project, "project"); err != nil {
		t.Fatal(err)
	}

	now := time.Now()
	s.good = certificateFor(t, "127.0.0.1", now.AddDate(0, 0, 7))
	unknown := certificateFor(t, "127.0.0.1", now.AddDate(0, 0, 7))
	elsewhere := certificateFor(t, "127.0.0.2", now.AddDate(0, 0, 7))
	expired := certificateFor(t, "127.0.0.1", now.AddDate(0, 0, -7))
	s.faults = append(connectionFaults(unknown, elsewhere, expired), registryFaults()...)
	s.faults = append(append(append(s.faults, archiveFaults()...), gitFaults()...), ociFaults()...)

	certificates := filepath.Join(s.home, "ca.pem")
	trusted := append(asPEM(s.good.Certificate[0]), asPEM(elsewhere.Certificate[0])...)
	trusted = append(trusted, asPEM(expired.Certificate[0])...)
	for _, entry := range world.Env() {
		if name, ok := strings.CutPrefix(entry, "SSL_CERT_FILE="); ok {
			own, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			trusted = append(trusted, own...)
		}
	}
	writeText(t, certificates, string(trusted))
	s.env = []string{"SSL_CERT_FILE=" + certificates, "GIT_SSL_CAINFO=" + certificates, "SSL_CERT_DIR=" + s.home, "TF_REGISTRY_DISCOVERY_RETRY=1"}
	s.mustRun(t, "install")
	return s
}

func (s *faultSite) check(t *testing.T, fault *netFault) {
	front := newFaultyFront(t, s.world, s.good, fault)
	at, dir := *s.site, t.TempDir()
	at.project, at.cache = filepath.Join(dir, "project"), filepath.Join(dir, "cache")
	copyOf(t, at.project, s.project)
	host := front.host
	if fault.host != "" {
		host = fault.host
	}
	call := func(host string) {
		at.write(t, "more.tf", strings.ReplaceAll("module \"new\" {\n  "+faultCalls[fault.call]+"\n}\n", "HOST", host))
	}
	call(host)
	before := picture(t, at.project)
	client := "go"
	if fault.call == "git" {
		client = "auto"
	}
	end := at.run("install", "COTTER_GIT_BACKEND="+client)
	if fault.says == nil {
		if end.status != 0 {
			t.Errorf("status %d, want 0: it passes\n%s", end.status, end.out)
		}
	} else {
		if end.status != 1 {
			t.Errorf("status %d, want 1\n%s", end.status, end.out)
		}
		fault.checkMessage(t, strings.ReplaceAll(end.out, host, "HOST"))
		if diff := differing(before, picture(t, at.project)); diff != "" {
			t.Errorf("it wrote something (-before +after):\n%s", diff)
		}
	}
	if n := front.most(); fault.asked > 0 && n > fault.asked {
		t.Errorf("the server was asked %d times, want %d", n, fault.asked)
	}
	for _, stage := range []string{at.locate(modules + ".cotter/stage"), at.locate("@cache/stage")} {
		for _, name := range leftovers(t, stage) {
			t.Errorf("left behind: %s", name)
		}
	}
	if fault.says == nil {
		return
	}
	front.turnOff()
	call(front.host)
	if end := at.run("install", "COTTER_GIT_BACKEND="+client); end.status != 0 {
		t.Errorf("without the fault: status %d\n%s", end.status, end.out)
	} else if got := picture(t, at.project)[modules+"modules.json"]; !strings.Contains(got, `"new"`) {
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

// leftovers returns the files below a directory, which need not exist.
func leftovers(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, name)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return found
}
