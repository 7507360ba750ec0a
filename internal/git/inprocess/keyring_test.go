package inprocess_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"net"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/cotterpin/cotter/internal/git/inprocess"
)

// TestKeysInOrder checks which keys are offered, and in which order. The agent holds
// "first", "second" and "locked". All of these are files too, as is "file"; the file of
// "locked" needs a passphrase.
func TestKeysInOrder(t *testing.T) {
	t.Parallel()
	files, names := map[string]string{}, map[string]string{}
	ring := agent.NewKeyring()
	for _, name := range []string{"first", "second", "locked", "file"} {
		public, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(private, "")
		if name == "locked" {
			block, err = ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("secret"))
		}
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(pem.EncodeToMemory(block))
		key, err := ssh.NewPublicKey(public)
		if err != nil {
			t.Fatal(err)
		}
		names[string(key.Marshal())] = name
		files["of-"+name+".pub"] = string(ssh.MarshalAuthorizedKey(key))
		if name == "file" {
			continue
		}
		if err := ring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
			t.Fatal(err)
		}
	}
	socket := filepath.Join(t.TempDir(), "agent")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = agent.ServeAgent(ring, c)
			}()
		}
	}()
	for config, want := range map[string][]string{
		"":                                      {"first", "second", "locked"},
		"IdentityFile ~/.ssh/second":            {"second", "first", "locked"},
		"IdentityFile ~/.ssh/locked":            {"locked", "first", "second"},
		"IdentityFile ~/.ssh/of-second.pub":     {"second", "first", "locked"},
		"IdentityFile ~/.ssh/of-second":         {"second", "first", "locked"}, // only its .pub file exists
		"IdentityFile ~/.ssh/file":              {"first", "second", "locked", "file"},
		"IdentitiesOnly yes":                    nil,
		"IdentityAgent none":                    nil,
		"IdentityFile none\nIdentitiesOnly yes": nil,
		"IdentityFile ~/.ssh/file\nIdentityFile ~/.ssh/locked\nIdentitiesOnly yes":   {"locked", "file"},
		"IdentityFile ~/.ssh/locked\nIdentityAgent none\nIdentityFile ~/.ssh/second": {"second"},
	} {
		t.Run(config, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"config": config, "first": files["first"], "second": files["second"], "locked": files["locked"], "file": files["file"], "of-second.pub": files["of-second.pub"]}
			login := inprocess.SSH{Home: homeWith(t, files), AgentSocket: socket}
			signers, err := login.Offers(t.Context(), &url.URL{Scheme: "ssh", User: url.User("git"), Host: "forge"})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range signers {
				got = append(got, names[string(s.PublicKey().Marshal())])
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}
