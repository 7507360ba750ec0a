package testenv

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strings"
)

// ownProcess is the variable with the name of the test that a process of [OwnProcess] runs.
const ownProcess = "COTTER_TEST_OWN_PROCESS"

const (
	beginResult = "\n--- BEGIN RESULT\n"
	endResult   = "\n--- END RESULT\n"
)

type Test interface {
	Helper()
	Name() string
	SkipNow()
}

// OwnProcess calls work in a process of its own and returns its result, for tests that measure the
// memory of the process, or that end it. The process runs the same test up to this call, with the
// flags of the package's tests, and with Go's default garbage collection. If it ends without a result,
// OwnProcess returns an error, and what the process has written.
func OwnProcess(t Test, work func() string) (string, error) {
	t.Helper()
	if os.Getenv(ownProcess) == t.Name() {
		debug.SetGCPercent(100)
		debug.SetMemoryLimit(math.MaxInt64)
		fmt.Fprint(os.Stdout, beginResult+work()+endResult)
		t.SkipNow()
	}
	elements := strings.Split(t.Name(), "/")
	for i, element := range elements {
		elements[i] = "^" + regexp.QuoteMeta(element) + "$"
	}
	args := []string{"-test.run=" + strings.Join(elements, "/")}
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			args = append(args, fmt.Sprintf("-%s=%s", f.Name, f.Value))
		}
	})
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(cmd.Environ(), ownProcess+"="+t.Name())
	out, err := cmd.CombinedOutput()
	_, result, _ := strings.Cut(string(out), beginResult)
	result, _, found := strings.Cut(result, endResult)
	if err == nil && !found {
		err = errors.New("the process has no result")
	}
	if err != nil {
		return string(out), err
	}
	return result, nil
}
