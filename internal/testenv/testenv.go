// Package testenv prepares the process in which the tests of a package run, so
// that they and the processes that they start cost less:
//
//   - Temporary directories are in memory if the system has room for them there.
//     Cotter makes what it writes durable, which on a disk that others use too
//     waits for what they have written as well.
//
//   - No certificates of the system are trusted. Each process would read more
//     than a hundred of them before its first request to a server of the tests,
//     whose own certificate is named in SSL_CERT_FILE. Git is left alone: a
//     variable of its own would make Cotter use git only.
//
//   - The garbage collector runs when the heap has grown fivefold, here and in the
//     Go programs that the tests start. A process that ends soon then seldom
//     collects anything. This process keeps below a soft limit: Linux counts the
//     memory of a process as used by those that it starts, too, which some tests
//     measure. GOGC in the environment wins.
//
//   - TLS does without the key exchanges that are to withstand quantum computers,
//     here and in those programs. They are most of the work of a handshake, and each
//     process begins with one.
//
// Tests run on a disk if TMPDIR is set. What needs a disk anyway makes an image.
package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"
)

// prefix begins the names of the directories of this package.
const prefix = "cotter-tests-"

// abandonedAfter is the age of a directory whose tests have been killed. It is
// far more than the time limit of go test.
const abandonedAfter = 24 * time.Hour

// Runner is what a TestMain has: a [*testing.M].
type Runner interface{ Run() int }

// Prepare returns a runner that prepares the process before it runs m. The
// variables TMPDIR, SSL_CERT_DIR, GOGC and GODEBUG are those of the process while m
// runs.
func Prepare(m Runner) Runner { return prepared{m} }

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
	if err := exchangeKeysFast(); err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
		return 1
	}
	status := p.tests.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
		return max(status, 1)
	}
	return status
}

// newDir makes the directory of all that belongs to this process, and sets the
// variables.
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

// gcPercent is GOGC for the tests.
const gcPercent = 400

// memoryLimit is the soft limit of this process in bytes.
const memoryLimit = 160 << 20

// collectLess sets GOGC for this process and for those that it starts.
func collectLess() error {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	return os.Setenv("GOGC", strconv.Itoa(gcPercent))
}

// fastKeyExchange are the settings of GODEBUG without hybrid key exchanges.
const fastKeyExchange = "tlsmlkem=0,tlssecpmlkem=0"

// exchangeKeysFast sets GODEBUG for this process and for those that it starts. What is
// there already wins.
func exchangeKeysFast() error {
	settings := fastKeyExchange
	if there := os.Getenv("GODEBUG"); there != "" {
		settings += "," + there
	}
	return os.Setenv("GODEBUG", settings)
}

// Variables returns what programs need in their environment to cost less, for
// environments that do not have all variables of the process.
func Variables() []string {
	var entries []string
	for _, name := range []string{"SSL_CERT_DIR", "GOGC", "GODEBUG"} {
		if value := os.Getenv(name); value != "" {
			entries = append(entries, name+"="+value)
		}
	}
	return entries
}

// removeAbandoned removes the directories of processes that were killed: what is
// in memory would stay there until the system is started again.
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
			_ = os.RemoveAll(dir) // another user's stay
		}
	}
}
