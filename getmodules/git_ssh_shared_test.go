package getmodules_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/testenv"
)

// newShortTemp returns a directory with a short path, for sockets.
func newShortTemp(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("connections are not shared on Windows")
	}
	dir, err := os.MkdirTemp("/tmp", "cotter-test-")
	testenv.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// sshRepositories returns repositories and their addresses on the host forge.
func sshRepositories(t *testing.T, n int) []string {
	t.Helper()
	var addresses []string
	for i := range n {
		r := newGitRepo(t, t.TempDir(), fmt.Sprintf("net%d.git", i))
		r.commit("main", gitFile{path: "main.tf", content: "x"})
		addresses = append(addresses, "git::ssh://forge"+r.dir+"?ref=main")
	}
	return addresses
}

// fetchTogether fetches from all addresses at once.
func fetchTogether(ctx context.Context, t *testing.T, f *getmodules.Fetcher, addresses []string) error {
	t.Helper()
	errs := make([]error, len(addresses))
	var running sync.WaitGroup
	for i, address := range addresses {
		running.Go(func() {
			_, _, errs[i] = fetchGitIn(ctx, t, f, getmodules.Request{Package: addrs.ParseModulePackage(address)})
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// TestSSHShared counts the connections of a run. Sharing uses the temporary directory of the process,
// so this test does not run in parallel.
func TestSSHShared(t *testing.T) {
	temp := newShortTemp(t)
	t.Setenv("TMPDIR", temp)
	s := newSSHServer(t)
	small := newSSHServer(t, "MaxSessions 1")
	plain := newSSHServer(t, "AcceptEnv LANG")
	only := newSSHServer(t, "AcceptEnv LANG", onlyGitCommands)
	repositories := 4
	if *testenv.Exhaustive {
		repositories = 8
	}
	addresses, each := sshRepositories(t, repositories), int32(repositories)
	for name, tt := range map[string]struct {
		server *sshServer
		config string
		logins int32
		git    int  // the fetches that are left to git
		alone  bool // the run has no memory
		races  bool // ssh fails if it finds a master that is just ending, and git tries again
	}{
		"shared":                     {server: s, config: s.withKey(), logins: 1},
		"no end of the run":          {server: s, config: s.withKey(), logins: each, alone: true},
		"the user's own master":      {server: s, config: s.withKey() + "  ControlMaster auto\n  ControlPath " + temp + "/own-%C\n  ControlPersist no", logins: -1, races: true},
		"the user's own path":        {server: s, config: s.withKey() + "  ControlPath " + temp + "/none", logins: each},
		"plain, the user's own path": {server: plain, config: plain.withKey() + "  ControlPath " + temp + "/none", logins: each},
		"plain":                      {server: plain, config: plain.withKey(), logins: 1},
		"plain, only git's commands": {server: only, config: only.withKey(), logins: each + 3, git: repositories + 2},
		"few sessions":               {server: small, config: small.withKey(), logins: -1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newGitFetcher(t, tt.server.clientConfig(t, tt.config))
			f.GitBackend, f.CacheDir = getmodules.GitAuto, ""
			ctx, programs := recordPrograms(t.Context())
			var run singleflight.Memory
			if !tt.alone {
				ctx = run.In(ctx)
			}
			before := tt.server.logins.Load()
			testenv.Must(t, fetchTogether(ctx, t, f, addresses))
			testenv.Must(t, fetchTogether(ctx, t, f, addresses[:2]))
			if ran := strings.Count(strings.Join(programs(), ","), "git fetch"); !tt.races && ran != tt.git {
				t.Errorf("the fetches ran %q, want git %d times", programs(), tt.git)
			}
			if sessions := strings.Count(strings.Join(programs(), ","), "ssh"); tt.git > 0 && sessions != 3 {
				t.Errorf("the fetches ran %q, want ssh for its settings, and two sessions that show what the server speaks", programs())
			}
			dirs, _ := filepath.Glob(filepath.Join(temp, "cotter-ssh-*"))
			for _, dir := range dirs {
				if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
					t.Errorf("the directory of the sockets: %v, %v; want the mode 0700", info, err)
				}
			}
			run.Close()
			if got := tt.server.logins.Load() - before; tt.logins == 1 && got != 1 || tt.logins > 1 && got < tt.logins {
				t.Errorf("%d connections, want %d", got, tt.logins)
			}
			nothingShared(t, temp)
		})
	}
}

// nothingShared checks that no socket, and no process that has one, is left.
func nothingShared(t *testing.T, temp string) {
	t.Helper()
	if left, _ := filepath.Glob(filepath.Join(temp, "cotter-ssh-*")); len(left) > 0 {
		t.Errorf("the run has left %q", left)
	}
	// The user's command runs in a shell, which can end a moment before the ssh that was killed with it.
	deadline := time.After(10 * time.Second)
	for {
		processes := sshProcesses(t, temp)
		if len(processes) == 0 {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("the run has left processes:\n%s", strings.Join(processes, "\n"))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// sshProcesses returns the command lines of processes that name a socket in a directory.
func sshProcesses(t *testing.T, temp string) []string {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "args").Output()
	if err != nil {
		t.Skip("ps is not installed")
	}
	return slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool {
		return !strings.Contains(line, "ControlPath="+temp)
	})
}

// TestSSHSharedRefusal lets one connection be refused for all sessions that wait for it.
func TestSSHSharedRefusal(t *testing.T) {
	temp := newShortTemp(t)
	t.Setenv("TMPDIR", temp)
	s := newSSHServer(t)
	known := "  UserKnownHostsFile " + s.file("known_hosts") + "\n  IdentityFile " + s.file("other_key")
	f := newGitFetcher(t, s.clientConfig(t, known))
	f.GitBackend = getmodules.GitAuto
	ctx, programs := recordPrograms(t.Context())
	var run singleflight.Memory
	err := fetchTogether(run.In(ctx), t, f, sshRepositories(t, 8))
	run.Close()
	if !errors.Is(err, getmodules.ErrAuthentication) || slices.Contains(programs(), "git fetch") {
		t.Errorf("fetches = %v by %q, want ErrAuthentication from ssh", err, programs())
	}
	nothingShared(t, temp)
}

// TestSSHSharedKilled kills a process that has a shared connection. The connection ends with it.
func TestSSHSharedKilled(t *testing.T) {
	if addresses := os.Getenv("COTTER_TEST_SSH_KILLED"); addresses != "" {
		f := &getmodules.Fetcher{Git: getmodules.Git{Env: os.Environ()}}
		var run singleflight.Memory // is never closed
		testenv.Must(t, fetchTogether(run.In(t.Context()), t, f, strings.Split(addresses, "\n")))
		fmt.Println("\nfetched")
		select {}
	}
	temp := newShortTemp(t)
	s := newSSHServer(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestSSHSharedKilled$")
	cmd.Env = append(gitEnv(t, s.clientConfig(t, s.withKey())), "TMPDIR="+temp, "COTTER_TEST_SSH_KILLED="+strings.Join(sshRepositories(t, 4), "\n"))
	out, err := cmd.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, cmd.Start())
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "fetched"; {
		said = append(said, lines.Text())
	}
	if len(sshProcesses(t, temp)) == 0 {
		t.Errorf("no connection is open before the process is killed; it said %q", said)
	}
	testenv.Must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	<-s.left // the server says that the client has left
	if got := s.logins.Load(); got != 1 {
		t.Errorf("%d connections, want 1", got)
	}
}

// TestSSHSharedBetweenEquals checks that sessions with different users or keys have connections of their
// own.
func TestSSHSharedBetweenEquals(t *testing.T) {
	temp := newShortTemp(t)
	t.Setenv("TMPDIR", temp)
	s := newSSHServer(t)
	s.write(t, "authorized_keys", s.client.line()+"\n"+s.other.line()+"\n")
	f := newGitFetcher(t, s.clientConfig(t, s.withKey()))
	f.GitBackend = getmodules.GitAuto
	var addresses []string
	for i, address := range sshRepositories(t, 6) {
		key := url.QueryEscape(base64.StdEncoding.EncodeToString([]sshKey{s.client, s.other}[i%2].pem))
		switch i / 2 {
		case 0:
			address += "&sshkey=" + key
		case 1:
			address = strings.Replace(address, "forge", s.user+"@forge", 1)
		}
		addresses = append(addresses, address)
	}
	var run singleflight.Memory
	err := fetchTogether(run.In(t.Context()), t, f, addresses)
	run.Close()
	if got := s.logins.Load(); err != nil || got != 4 {
		t.Errorf("fetches = %v, by %d connections; want one for each of two keys, one for the user in the address, and one", err, got)
	}
	nothingShared(t, temp)
}
