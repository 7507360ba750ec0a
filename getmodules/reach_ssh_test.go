package getmodules_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// TestReachableSSH searches through a real sshd.
func TestReachableSSH(t *testing.T) {
	t.Parallel()
	s := newSSHServer(t)
	r := reachWorld(t, t.TempDir(), "net.git")
	r.id["none"] = "1111111111111111111111111111111111111111"
	key := url.QueryEscape(base64.StdEncoding.EncodeToString(s.key))
	address := fmt.Sprintf("git::ssh://%s@127.0.0.1:%d%s?sshkey=%s", s.user, s.port, r.dir, key)
	known := s.clientConfig(t, "  UserKnownHostsFile "+s.file("known_hosts"))
	reachTogether(t, newGitFetcher(t, known), r, address, false)

	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".ssh", "known_hosts"), s.read(t, "known_hosts"), 0o600); err != nil {
		t.Fatal(err)
	}
	reachTogether(t, newBuiltInFetcher(t, "HOME="+home), r, address, false)
}
