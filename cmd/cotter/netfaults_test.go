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

// faultCalls are the calls that meet a fault. HOST stands for the server that
// has it.
var faultCalls = map[string]string{
	"registry": "source  = \"HOST/acme/net/aws\"\n  version = \"~> 1.0\"",
	"git":      `source = "git::https://HOST/git/tools.git?ref=v1.0.0"`,
	"zip":      `source = "https://HOST/archives/n.zip"`,
	"tar":      `source = "https://HOST/archives/n.tar.gz"`,
	"oci":      `source = "oci://HOST/db?tag=1.0.0"`,
}

// netFault is a fault of the network or a server, and what is said of it.
type netFault struct {
	name string
	call string // of faultCalls

	// at is what the path of a request contains that meets the fault, and answer
	// is what it gets. With connection or certificate it is "".
	at          string
	answer      answering
	connection  func(net.Conn)
	certificate *tls.Certificate
	// host is the wrong one, in the place of a server with a fault.
	host string
	// times is how often each path meets the fault; zero means always.
	times int

	// asked is how often each path that is at fault may be asked; zero means that
	// it does not matter.
	asked int

	// says is what the message has, besides the call with its file and line.
	// Without it the installation succeeds all the same.
	says []string
}

// discardLog is for servers whose clients fail on purpose.
var discardLog = log.New(io.Discard, "", 0)

// TestNetworkFaults adds a call to an installed project, and something goes wrong
// when its module is fetched. The message has to say what, and of which call;
// the project has to be as before; and when nothing is wrong any more, the same
// command has to succeed.
//
// Many faults are tried at once: most of the time is spent in waiting before a
// request is repeated.
func TestNetworkFaults(t *testing.T) {
	t.Parallel()
	s := newFaultSite(t)
	var wait sync.WaitGroup
	slots := make(chan struct{}, 12)
	for _, fault := range s.faults {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			t.Run(fault.call+"/"+fault.name, func(t *testing.T) { s.check(t, &fault) })
		})
	}
	wait.Wait()
}

// faultSite is what all rows start from.
type faultSite struct {
	*site
	faults       []netFault
	good         *tls.Certificate // of all servers while they have no fault
	certificates string           // the file of those that are trusted
}

func newFaultSite(t *testing.T) *faultSite {
	t.Helper()
	world := modtest.NewWith(t, modtest.Txtar(faultsWorld), modtest.Options{OCIBearer: true})
	s := &faultSite{site: &site{world: world, home: t.TempDir()}}
	s.dir, s.cache = world.Dir(t, "project"), filepath.Join(s.home, "cache")
	writeText(t, filepath.Join(s.home, "cli.tfrc"), "")

	now := time.Now()
	s.good = certificateFor(t, "127.0.0.1", now.AddDate(0, 0, 7))
	unknown := certificateFor(t, "127.0.0.1", now.AddDate(0, 0, 7))
	elsewhere := certificateFor(t, "127.0.0.2", now.AddDate(0, 0, 7))
	expired := certificateFor(t, "127.0.0.1", now.AddDate(0, 0, -7))
	s.faults = append(connectionFaults(unknown, elsewhere, expired), registryFaults()...)
	s.faults = append(append(append(s.faults, archiveFaults()...), gitFaults()...), ociFaults()...)

	s.certificates = filepath.Join(s.home, "ca.pem")
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
	writeText(t, s.certificates, string(trusted))
	if status, out := s.install(s.dir, s.cache, "go"); status != 0 {
		t.Fatalf("the first installation: status %d\n%s", status, out)
	}
	return s
}

// install installs as a user would, with a client for git repositories.
func (s *faultSite) install(dir, cache, client string) (status int, out string) {
	return ended(warm.run(dir, append(append(os.Environ(), s.world.Env()...), "CI=", "NO_COLOR=1", "HOME="+s.home,
		"COTTER_CACHE_DIR="+cache, "COTTER_GIT_BACKEND="+client, "TF_CLI_CONFIG_FILE="+filepath.Join(s.home, "cli.tfrc"),
		"SSL_CERT_FILE="+s.certificates, "GIT_SSL_CAINFO="+s.certificates, "SSL_CERT_DIR="+s.home, "TF_REGISTRY_DISCOVERY_RETRY=1"), "install"))
}

// check tries one fault.
func (s *faultSite) check(t *testing.T, fault *netFault) {
	front := newFaultyFront(t, s.world, s.good, fault)
	dir, cache := filepath.Join(t.TempDir(), "project"), t.TempDir()
	if err := copyTree(dir, s.dir, false); err != nil {
		t.Fatal(err)
	}
	host := front.host
	if fault.host != "" {
		host = fault.host
	}
	call := func(host string) {
		text := strings.ReplaceAll("module \"new\" {\n  "+faultCalls[fault.call]+"\n}\n", "HOST", host)
		writeText(t, filepath.Join(dir, "more.tf"), text)
	}
	call(host)
	before := picture(t, dir)
	client := "go"
	if fault.call == "git" {
		client = "auto"
	}
	status, out := s.install(dir, cache, client)
	if fault.says == nil {
		if status != 0 {
			t.Errorf("status %d, want 0: it passes\n%s", status, out)
		}
	} else {
		if status != 1 {
			t.Errorf("status %d, want 1\n%s", status, out)
		}
		fault.checkMessage(t, strings.ReplaceAll(out, host, "HOST"))
		if diff := differing(before, picture(t, dir)); diff != "" {
			t.Errorf("it wrote something (-before +after):\n%s", diff)
		}
	}
	if n := front.most(); fault.asked > 0 && n > fault.asked {
		t.Errorf("the server was asked %d times, want %d", n, fault.asked)
	}
	for _, stage := range []string{filepath.Join(dir, modules, ".cotter/stage"), filepath.Join(cache, "stage")} {
		for _, name := range leftovers(t, stage) {
			t.Errorf("left behind: %s", name)
		}
	}
	if fault.says == nil {
		return
	}
	front.turnOff()
	call(front.host)
	if status, out := s.install(dir, cache, client); status != 0 {
		t.Errorf("without the fault: status %d\n%s", status, out)
	} else if got := picture(t, dir)[modules+"modules.json"]; !strings.Contains(got, `"new"`) {
		t.Errorf("without the fault: modules.json is %s", got)
	}
}

// checkMessage checks what is said of the fault, once and of no other module.
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

// leftovers are the files below a directory, which need not exist.
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
