// Package testenv prepares the process in which the tests of a package run, so that the tests and
// the processes that they start use fewer resources:
//
//   - Temporary directories are in memory if there is enough room. Cotter makes its files
//     durable. On a disk that other programs also use, this waits for their writes as well.
//
//   - No certificates of the system are trusted. Otherwise each process would read more than a
//     hundred of them before its first request to a test server, whose own certificate is named
//     in SSL_CERT_FILE. Git's settings are not changed, because a variable for git would make
//     Cotter use only git.
//
//   - The garbage collector runs only when the heap has grown fivefold, in this process and in
//     the Go programs that the tests start. So a short process seldom collects anything. This
//     process stays below a soft limit, because Linux also counts a process's memory for the
//     processes that it starts, which some tests measure. GOGC in the environment takes
//     precedence.
//
//   - Twice as many tests as processors run at once, because many of them wait: for other processes,
//     or until a request is repeated. The flag -parallel takes precedence.
//
//   - TLS does not use key exchanges that resist quantum computers, in this process and in those
//     programs. They are most of the work of a handshake, and each process begins with one.
//
// If TMPDIR is set, tests run on a disk. A test that needs a disk in any case creates an image.
//
// The package also runs the programs of others that tests of several packages need: see
// [Registry].
//
// [Fetch], [Files] and [Zip] are for the tests of getters.
//
// [OwnProcess] runs a part of a test in another process, for example to measure its memory.
package testenv

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/cotterpin/cotter/internal/atomicfile"
)

// prefix is the prefix of the names of this package's directories.
const prefix = "cotter-tests-"

// abandonedAfter is the age at which the tests of a directory must have been killed. It is far
// more than the time limit of go test.
const abandonedAfter = 24 * time.Hour

// Runner is the parameter of a TestMain, a [*testing.M].
type Runner interface{ Run() int }

// Prepare returns a runner that prepares the process and then runs m. While m runs, it sets the
// variables TMPDIR, SSL_CERT_DIR, GOGC and GODEBUG of the process. Call it before flags are
// parsed, as TestMain does.
func Prepare(m Runner) Runner {
	runMoreTestsAtOnce()
	return prepared{m}
}

// runMoreTestsAtOnce sets the default of the flag -parallel of go test.
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
	if err := collectLess(); err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
		return 1
	}
	if err := setGoDebug(); err != nil {
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

// newDir creates the directory for all files of this process and sets the variables.
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

// gcPercent is the value of GOGC for the tests.
const gcPercent = 400

// memoryLimit is the soft memory limit of this process in bytes.
const memoryLimit = 160 << 20

// collectLess sets GOGC for this process and for the processes that it starts.
func collectLess() error {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	return os.Setenv("GOGC", strconv.Itoa(gcPercent))
}

// fastKeyExchange are the settings of GODEBUG that disable hybrid key exchanges.
const fastKeyExchange = "tlsmlkem=0,tlssecpmlkem=0"

// ownRoots is the setting of GODEBUG without which [TrustCertificateFile] has no effect.
const ownRoots = "x509usefallbackroots=1"

// setGoDebug sets GODEBUG for this process and for the processes that it starts. Settings that are
// already there take precedence.
func setGoDebug() error {
	settings := fastKeyExchange
	if ignoresCertificateFile() {
		settings += "," + ownRoots
	}
	if there := os.Getenv("GODEBUG"); there != "" {
		settings += "," + there
	}
	return os.Setenv("GODEBUG", settings)
}

// Variables returns the variables that make programs use fewer resources, for environments that
// do not have all variables of the process.
func Variables() []string {
	var entries []string
	for _, name := range []string{"SSL_CERT_DIR", "GOGC", "GODEBUG"} {
		if value := os.Getenv(name); value != "" {
			entries = append(entries, name+"="+value)
		}
	}
	return entries
}

// removeAbandoned removes the directories of killed processes. Otherwise they would stay in
// memory until the system is restarted.
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
