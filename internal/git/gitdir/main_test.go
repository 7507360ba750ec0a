package gitdir_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/cotterpin/cotter/internal/git/gitdir"
	"github.com/cotterpin/cotter/internal/testenv"
)

// checkDir makes the test binary check the repository around a directory instead of running
// tests, so that a test can do it as another user.
const checkDir = "GITDIR_TEST_CHECK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(checkDir); dir != "" {
		os.Exit(check(dir))
	}
	os.Exit(testenv.Prepare(m).Run())
}

// The exit statuses of check.
const (
	allowed = 0
	refused = 40
	failed  = 41
)

func check(dir string) int {
	repo, err := gitdir.Find(dir)
	if err == nil {
		err = gitdir.Check(repo, nil)
	}
	if err == nil {
		return allowed
	}
	fmt.Fprintln(os.Stderr, err)
	if _, ok := errors.AsType[*gitdir.OwnerError](err); ok {
		return refused
	}
	return failed
}
