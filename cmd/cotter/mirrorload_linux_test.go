package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/net/oci/registrytest"
	"github.com/cotterpin/cotter/internal/store/artifact"
	"github.com/cotterpin/cotter/internal/store/storefetch"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/modtest"
)

// loadOfMirror is how many installations TestMirrorLoad runs at once.
var loadOfMirror = flag.Int("load", smallLoad, "how many installations TestMirrorLoad runs at once")

// smallLoad is enough to test correctness. Measurements use a higher load.
const smallLoad = 8

// mirrorLoad is a mirror in a third-party registry, and the project whose packages it has.
type mirrorLoad struct {
	world                     *modtest.World
	registry                  *registrytest.Registry
	binary, certificate, work string
	main, lock                []byte
	packages                  int
}

// TestMirrorLoad installs one project from one mirror in many processes at once, each with
// its own cache. To measure:
//
//	go test ./cmd/cotter -run TestMirrorLoad -load 200 -v
func TestMirrorLoad(t *testing.T) {
	t.Parallel()
	l := newMirrorLoad(t)
	l.measure(t, "all at once", *loadOfMirror)
	if n := len(l.world.Requests()); n > 0 {
		t.Errorf("the origins got %d requests, want none: %s", n, l.world.Requests()[0])
	}

	restarted := make(chan error, 1)
	l.registry.After(int64(*loadOfMirror*l.packages), func() { // about half of the requests
		l.registry.Kill()
		go func() { restarted <- l.registry.Run() }()
	})
	l.measure(t, "with a restart in the middle", *loadOfMirror)
	testenv.Must(t, <-restarted)

	damaged := l.damage(t)
	l.world.ResetRequests()
	l.measure(t, "with a damaged blob", *loadOfMirror)
	requests := l.world.Requests()
	if len(requests) < *loadOfMirror {
		t.Errorf("the origins got %d requests, want one for each of %d installations at least", len(requests), *loadOfMirror)
	}
	for _, request := range requests {
		if !strings.Contains(request.Path, damaged) && !strings.Contains(request.Path, ".well-known") {
			t.Errorf("an origin got %s, but only the package of %s is damaged", request, damaged)
			break
		}
	}
}

func newMirrorLoad(t *testing.T) *mirrorLoad {
	t.Helper()
	work, err := os.MkdirTemp("", "load-") // the names of sockets are short
	testenv.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(work) })
	l := &mirrorLoad{work: work, packages: 4, binary: cotterBinary}
	size := 1 << 10
	if *loadOfMirror > smallLoad {
		l.packages, size, l.binary = 20, 100<<10, filepath.Join(work, "cotter")
		if text, err := exec.CommandContext(t.Context(), "go", "build", "-o", l.binary, ".").CombinedOutput(); err != nil {
			t.Fatalf("go build: %v\n%s", err, text)
		}
	}
	l.registry = registrytest.Start(t, work)

	var files, main strings.Builder
	random := rand.NewChaCha8([32]byte{})
	content := make([]byte, size/2)
	for i := range l.packages {
		_, _ = random.Read(content) // it never fails
		fmt.Fprintf(&files, "-- registry/acme/m%02d/aws/1.0.0/main.tf --\n# %d\n-- registry/acme/m%02d/aws/1.0.0/data.txt --\n%x\n", i, i, i, content)
		fmt.Fprintf(&main, "module \"m%02d\" {\n  source = \"HOST/acme/m%02d/aws\"\n}\n", i, i)
	}
	l.world = modtest.NewWith(t, modtest.Txtar(files.String()), modtest.Options{Archives: true})
	l.main = []byte(strings.ReplaceAll(main.String(), "HOST", string(l.world.Host())))
	l.trustServers(t)
	l.push(t)
	return l
}

// trustServers writes the certificates of the world's servers and of the registry.
func (l *mirrorLoad) trustServers(t *testing.T) {
	t.Helper()
	certificates := l.registry.Certificate()
	for _, variable := range l.world.Env() {
		if name, ok := strings.CutPrefix(variable, "SSL_CERT_FILE="); ok {
			text := readFile(t, name)
			certificates = append(certificates, text...)
		}
	}
	l.certificate = filepath.Join(l.work, "ca.pem")
	testenv.WriteFile(t, l.certificate, string(certificates))
}

// push installs the project from its origins and pushes its packages to the mirror.
func (l *mirrorLoad) push(t *testing.T) {
	t.Helper()
	dir := l.project(t, "first")
	for _, args := range [][]string{{"install"}, {"mirror", "push"}} {
		cmd := l.command(dir, args...)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("cotter %s: %v\n%s", strings.Join(args, " "), err, text)
		}
	}
	var err error
	if l.lock, err = os.ReadFile(filepath.Join(dir, ".terraform.lock.hcl")); err != nil {
		t.Fatal(err)
	}
	l.world.ResetRequests()
}

func (l *mirrorLoad) project(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(l.work, name, "project")
	testenv.WriteFile(t, filepath.Join(dir, "main.tf"), string(l.main))
	if l.lock != nil {
		testenv.WriteFile(t, filepath.Join(dir, lockFile), string(l.lock))
	}
	return dir
}

// command returns a command of a user who has only the project and the mirror. It runs at
// the lowest priority, so that the servers, which would normally run on their own machine,
// come first.
func (l *mirrorLoad) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("nice", append([]string{"-n", "19", l.binary}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), l.world.Env()...), "SSL_CERT_FILE="+l.certificate, "CI=",
		"COTTER_CACHE_DIR="+filepath.Join(dir, "..", "cache"), "COTTER_STATE_DIR="+filepath.Join(dir, "..", "state"),
		"COTTER_MIRROR=oci://"+l.registry.Host()+"/modules")
	return cmd
}

// measure runs n installations at once, checks that all are correct, and prints the time and
// resources that they took.
func (l *mirrorLoad) measure(t *testing.T, name string, n int) {
	t.Helper()
	commands, outputs := make([]*exec.Cmd, n), make([]bytes.Buffer, n)
	for i := range commands {
		commands[i] = l.command(l.project(t, fmt.Sprintf("%s %d", name, i)), "install", "--locked", "--only", "modules")
		commands[i].Stdout, commands[i].Stderr = &outputs[i], &outputs[i]
	}
	requests, sent := l.registry.Traffic()
	origins, registryCPU, began := len(l.world.Requests()), l.registry.CPU(), time.Now()
	var wait sync.WaitGroup
	memory := make([]int64, n)
	for i, cmd := range commands {
		wait.Go(func() {
			err := cmd.Start()
			if err == nil {
				memory[i], err = peakMemoryOf(cmd)
			}
			if err != nil {
				t.Errorf("%s: installation %d: %v\n%s", name, i, err, &outputs[i])
			}
		})
	}
	wait.Wait()
	took := time.Since(began)
	for _, cmd := range commands {
		l.check(t, cmd.Dir)
		if err := os.RemoveAll(filepath.Dir(cmd.Dir)); err != nil {
			t.Error(err)
		}
	}
	requestsAfter, sentAfter := l.registry.Traffic()
	l.registry.Kill() // CPU counts only processes that were killed
	testenv.Must(t, l.registry.Run())
	var cpu time.Duration
	for _, cmd := range commands {
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	slices.Sort(memory)
	t.Logf("%s: %d installations of %d packages in %.1f s, %.0f a minute", name, n, l.packages, took.Seconds(), float64(n)/took.Minutes())
	t.Logf("  requests: %d to the mirror (%.1f an installation), %d to the origins; %.1f MB from the mirror",
		requestsAfter-requests, float64(requestsAfter-requests)/float64(n), len(l.world.Requests())-origins, float64(sentAfter-sent)/1e6)
	t.Logf("  CPU of an installation: %d ms in the client, %.1f ms in the registry; memory of a client: %d MiB, at most %d MiB",
		(cpu / time.Duration(n)).Milliseconds(), (l.registry.CPU()-registryCPU).Seconds()*1000/float64(n), memory[len(memory)/2], memory[len(memory)-1])
}

// peakMemoryOf waits for a process and returns its peak memory in MiB. It reads /proc,
// because the usage that the system reports at the end includes the memory of this process
// when it started the other.
func peakMemoryOf(cmd *exec.Cmd) (peak int64, err error) {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)) // the process may have ended
		_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
		value, _, _ := bytes.Cut(rest, []byte("kB"))
		kib, _ := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
		peak = max(peak, kib>>10)
		select {
		case <-tick.C:
		case err := <-ended:
			return peak, err
		}
	}
}

// check compares the files that are installed in a project with the expected ones.
func (l *mirrorLoad) check(t *testing.T, dir string) {
	t.Helper()
	for i := range l.packages {
		name := filepath.Join(dir, ".terraform", "modules", fmt.Sprintf("m%02d", i), "main.tf")
		if text, err := os.ReadFile(name); err != nil || string(text) != fmt.Sprintf("# %d\n", i) {
			t.Errorf("%s is %q, %v", name, text, err)
			return
		}
	}
}

// damage damages the archive of a module in the registry's storage, and returns the part of
// the request paths that belongs to the module's origin.
func (l *mirrorLoad) damage(t *testing.T) string {
	t.Helper()
	lock, err := lockfile.Parse(l.lock, "")
	testenv.Must(t, err)
	entry, _ := lock.Module("m01")
	m, err := mirror.Open(&getmodules.Fetcher{HTTPClient: l.registry.Client()}, "oci://"+l.registry.Host()+"/modules")
	testenv.Must(t, err)
	text, err := storefetch.Manifest(t.Context(), m, artifact.StatementOf(entry).Tag())
	testenv.Must(t, err)
	var manifest struct{ Layers []struct{ Digest string } }
	testenv.Must(t, json.Unmarshal(text, &manifest))
	testenv.Must(t, l.registry.Damage(manifest.Layers[0].Digest))
	return "/m01/"
}
