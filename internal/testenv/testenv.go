// Package testenv prepares the process in which the tests of a package run, so that the tests and
// the processes that they start use fewer resources. It also has [OwnProcess], the rows of long tables that run, and
// helpers for repositories, programs and files. Most tests import it, so it does not import net/http, which takes a second
// to link.
package testenv

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
)

const prefix = "cotter-tests-"

// abandonedAfter is the age at which the tests of a directory must have been killed. It is far
// more than the time limit of go test.
const abandonedAfter = 24 * time.Hour

// Runner is the parameter of a TestMain, a [*testing.M].
type Runner interface{ Run() int }

// Prepare returns a runner that prepares the process and then runs m: it sets the variables TMPDIR,
// SSL_CERT_DIR, GOGC and GODEBUG, and removes the user's settings of Cotter and of stock tools. Call it
// before flags are parsed, as TestMain does.
func Prepare(m Runner) Runner {
	runMoreTestsAtOnce()
	return prepared{m}
}

// runMoreTestsAtOnce runs twice as many tests as processors, unless -parallel is set: many tests wait
// for other processes, or until a request is repeated.
func runMoreTestsAtOnce() {
	if parallel := flag.Lookup("test.parallel"); parallel != nil && !flag.Parsed() {
		_ = parallel.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0)))
	}
}

type prepared struct{ tests Runner }

func (p prepared) Run() int {
	dir, err := newDir()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
		return 1
	}
	if err := errors.Join(collectLess(), setGoDebug(), ignoreSettings()); err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
		return 1
	}
	status := p.tests.Run()
	if err := atomicfile.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
		return max(status, 1)
	}
	return status
}

// newDir creates the directory for all files of this process. It trusts no certificates of the system:
// each process would read more than a hundred of them before its first request to a test server, whose
// own one is in SSL_CERT_FILE. Git's settings stay, because a variable for git would make Cotter use
// only git.
func newDir() (string, error) {
	memory := memoryDir()
	removeAbandoned(memory)
	dir, err := os.MkdirTemp(memory, prefix)
	if err != nil {
		return "", err
	}
	variables := map[string]string{"SSL_CERT_DIR": "certificates"}
	if memory != "" {
		variables["TMPDIR"] = "tmp"
	}
	for variable, name := range variables {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(name, 0o755); err != nil {
			return dir, err
		}
		if err := os.Setenv(variable, name); err != nil {
			return dir, err
		}
	}
	return dir, nil
}

const gcPercent = 400

const memoryLimit = 160 << 20 // bytes

// collectLess lets the heap grow fivefold before it is collected, here and in the Go programs that the
// tests start, unless GOGC is set. This process has a soft limit, because Linux counts its memory for
// the processes that it starts too, which some tests measure.
func collectLess() error {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	return os.Setenv("GOGC", strconv.Itoa(gcPercent))
}

// fastKeyExchange disables the key exchanges that resist quantum computers: they are most of the work
// of a handshake, and each process begins with one.
const fastKeyExchange = "tlsmlkem=0,tlssecpmlkem=0"

// IgnoresCertificateFile reports whether Go asks this operating system which certificates are trusted,
// and does not read SSL_CERT_FILE.
func IgnoresCertificateFile() bool {
	return runtime.GOOS == "windows" || runtime.GOOS == "darwin"
}

// ownRoots is the setting of GODEBUG with which a program can read that file itself.
const ownRoots = "x509usefallbackroots=1"

// setGoDebug sets GODEBUG for this process and those that it starts. Its earlier settings take precedence.
func setGoDebug() error {
	settings := fastKeyExchange
	if IgnoresCertificateFile() {
		settings += "," + ownRoots
	}
	if there := os.Getenv("GODEBUG"); there != "" {
		settings += "," + there
	}
	return os.Setenv("GODEBUG", settings)
}

// ignoreSettings removes the settings of this machine's user from the environment, so that tests have the
// same result everywhere: the variables of Cotter and of stock tools, and the file that the latter read.
// What is set for the tests themselves stays.
func ignoreSettings() error {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		product, _, _ := strings.Cut(name, "_")
		if !slices.Contains([]string{"COTTER", "TF", "TOFU"}, product) || strings.HasPrefix(name, "COTTER_TEST_") {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	return errors.Join(os.Setenv("TF_CLI_CONFIG_FILE", os.DevNull), os.Setenv("CHECKPOINT_DISABLE", "1"))
}

// Variables returns the variables of [Prepare] for programs that do not inherit the environment.
func Variables() []string {
	var entries []string
	for _, name := range []string{"SSL_CERT_DIR", "GOGC", "GODEBUG"} {
		if value := os.Getenv(name); value != "" {
			entries = append(entries, name+"="+value)
		}
	}
	return entries
}

// removeAbandoned removes the directories of killed processes, which would stay in memory.
func removeAbandoned(memory string) {
	if memory == "" {
		return
	}
	left, err := filepath.Glob(filepath.Join(memory, prefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		if info, err := os.Lstat(dir); err == nil && time.Since(info.ModTime()) > abandonedAfter {
			_ = atomicfile.RemoveAll(dir) // fails for another user's directory
		}
	}
}
