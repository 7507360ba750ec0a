package git_test

import (
	"errors"
	"testing"

	"github.com/cotterpin/cotter/internal/git"
)

// TestHostErrorText checks the text for a host of which git says something that is not in our table of faults.
func TestHostErrorText(t *testing.T) {
	t.Parallel()
	e := git.HostError{Is: git.ErrHostUnreachable, URL: "https://git.example.com/net.git", Err: errors.New("git fetch: exit status 128: network is unreachable")}
	if got, want := e.Common(), "git.example.com cannot be reached: network is unreachable"; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
}
