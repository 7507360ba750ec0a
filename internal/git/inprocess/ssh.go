package inprocess

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/kevinburke/ssh_config"
	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/httpx"
	"github.com/cotterpin/cotter/internal/sanitize"
	"github.com/cotterpin/cotter/internal/trace"
)

// SSH logs in to ssh servers, for machines without git. Of ssh's own files it reads the user's: config, keys
// and known_hosts, and the system's ssh_known_hosts.
type SSH struct {
	// Home is the user's home directory; "" means that there is none.
	Home string
	// AgentSocket is a path; "" means no agent.
	AgentSocket string
	// Key is offered first; nil if there is none.
	Key []byte
	// Floor.Window is how long a server may send nothing before it has let the user in.
	Floor httpx.Floor
}

// maxUserFile bounds keys and the configuration, in bytes.
const maxUserFile = 1 << 20

// Dial starts git-upload-pack in version 2 for an ssh:// address.
func (s SSH) Dial(ctx context.Context, u *url.URL) (_ gitwire.Conn, err error) {
	ctx, traced := trace.Start(ctx, trace.Operation{Kind: "ssh", Target: addrs.Redact(u.String())})
	defer func() { traced(err) }()
	host, err := s.hostOf(ctx, u)
	if err != nil {
		return nil, err
	}
	resolved, err := httpx.CheckResolved(ctx, u, host.name)
	if err != nil {
		return nil, err
	}
	keys, err := s.keysOf(ctx, host)
	if err != nil {
		return nil, err
	}
	defer keys.close()
	address := net.JoinHostPort(host.name, host.port)
	known, err := s.knownHosts(address)
	if err != nil {
		return nil, err
	}
	watched, guard := httpx.Floor{PerSecond: -1, Window: s.Floor.Window}.Watch(ctx)
	defer guard.Stop()
	raw, err := connect(watched, address, resolved)
	if err != nil {
		return nil, fmt.Errorf("%w: there is no connection: %w", git.ErrHostUnreachable, cmp.Or[error](context.Cause(watched), err))
	}
	stop := context.AfterFunc(watched, func() { _ = raw.Close() })
	defer stop()
	raw = countedConn{raw, guard}
	asked := false
	var untrusted error
	link, channels, requests, err := ssh.NewClientConn(raw, address, &ssh.ClientConfig{
		User: host.user,
		Auth: []ssh.AuthMethod{ssh.PublicKeysCallback(func() ([]ssh.Signer, error) {
			asked = true
			return keys.signers, nil
		})},
		HostKeyCallback: func(address string, remote net.Addr, key ssh.PublicKey) error {
			untrusted = known.check(address, remote, key)
			return untrusted
		},
		HostKeyAlgorithms: known.db.HostKeyAlgorithms(address), // else the server may choose a type that is not known
	})
	var session *sshSession
	if err == nil {
		session, err = start(ssh.NewClient(link, channels, requests), u.Path)
	}
	if err != nil {
		_ = raw.Close()
	}
	switch {
	case err == nil:
		return session, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case guard.Err() != nil:
		return nil, fmt.Errorf("%w: the ssh server does not answer: %w", git.ErrHostUnreachable, guard.Err())
	case untrusted != nil:
		return nil, untrusted
	case link != nil:
		return nil, err
	case asked:
		return nil, keys.refused(host)
	}
	return nil, fmt.Errorf("%w: the ssh server refuses the connection: %w", git.ErrHostUnreachable, err)
}

// connect dials the addresses that were judged, if there are any.
func connect(ctx context.Context, address string, resolved []netip.Addr) (conn net.Conn, err error) {
	_, port, _ := net.SplitHostPort(address)
	targets := []string{address}
	for i, ip := range resolved {
		targets = append(targets[:i], net.JoinHostPort(ip.String(), port))
	}
	for _, target := range targets {
		if conn, err = new(net.Dialer).DialContext(ctx, "tcp", target); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

type countedConn struct {
	net.Conn
	guard *httpx.Guard
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.guard.Add(n)
	return n, err
}

type sshHost struct {
	name, port, user string
	identityFiles    []string
	onlyFiles        bool
}

// unreadSettings are settings for a host without which its login would be another one, or fail.
var unreadSettings = []string{"ProxyJump", "ProxyCommand", "IdentityAgent", "HostKeyAlias", "CertificateFile"}

// hostOf applies the user's configuration; what the address says takes precedence.
func (s SSH) hostOf(ctx context.Context, u *url.URL) (sshHost, error) {
	name := filepath.Join(s.Home, ".ssh", "config")
	text, err := atomicfile.ReadUser(ctx, name, maxUserFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return sshHost{}, fmt.Errorf("%w: the ssh configuration cannot be read: %w", git.ErrNeedsGit, err)
	}
	for line := range strings.Lines(string(text)) {
		words := strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == '=' || r == '"' })
		if len(words) > 0 && (strings.EqualFold(words[0], "Include") || strings.EqualFold(words[0], "Match")) {
			return sshHost{}, unread(words[0], name)
		}
	}
	config, err := ssh_config.DecodeBytes(text)
	if err != nil {
		return sshHost{}, fmt.Errorf("%w: the ssh configuration %s cannot be read: %w", git.ErrNeedsGit, name, err)
	}
	get := func(key string) string {
		value, _ := config.Get(u.Hostname(), key) // the error is about Include
		return value
	}
	for _, key := range unreadSettings {
		if value := get(key); value != "" && !strings.EqualFold(value, "none") {
			return sshHost{}, unread(key, name)
		}
	}
	h := sshHost{
		name: cmp.Or(get("HostName"), u.Hostname()), port: cmp.Or(u.Port(), get("Port"), "22"),
		user: cmp.Or(u.User.Username(), get("User")), onlyFiles: strings.EqualFold(get("IdentitiesOnly"), "yes"),
	}
	if h.user == "" {
		me, err := user.Current()
		if err != nil {
			return sshHost{}, err
		}
		h.user = me.Username[strings.LastIndexByte(me.Username, '\\')+1:] // without the domain of Windows
	}
	h.identityFiles, _ = config.GetAll(u.Hostname(), "IdentityFile")
	for i, file := range h.identityFiles {
		if rest, ok := strings.CutPrefix(file, "~/"); ok {
			h.identityFiles[i] = filepath.Join(s.Home, rest)
		}
	}
	if len(h.identityFiles) == 0 && s.Home != "" {
		for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
			h.identityFiles = append(h.identityFiles, filepath.Join(s.Home, ".ssh", name))
		}
	}
	for _, value := range append([]string{h.name}, h.identityFiles...) {
		if strings.ContainsAny(value, "%$") {
			return sshHost{}, unread(printable(value), name)
		}
	}
	return h, nil
}

func unread(what, file string) error {
	return fmt.Errorf("%w: %s has %s, which only the ssh of an installed git reads", git.ErrNeedsGit, file, what)
}

type sshKeys struct {
	agent   net.Conn
	signers []ssh.Signer
	tried   []string
	locked  []string // key files that need a passphrase
}

func (s SSH) keysOf(ctx context.Context, host sshHost) (*sshKeys, error) {
	k := &sshKeys{}
	if s.Key != nil {
		given, err := ssh.ParsePrivateKey(s.Key)
		if err != nil { // the error may have parts of the key
			return nil, fmt.Errorf("%w: the key of the sshkey argument cannot be read; it must be a private key without a passphrase", git.ErrAuthentication)
		}
		k.signers, k.tried = append(k.signers, given), append(k.tried, "the key of the sshkey argument")
	}
	if s.AgentSocket != "" && !host.onlyFiles {
		if conn, err := new(net.Dialer).DialContext(ctx, "unix", s.AgentSocket); err == nil { // the agent may have exited
			k.agent = conn
			held, _ := agent.NewClient(conn).Signers()
			k.signers, k.tried = append(k.signers, held...), append(k.tried, fmt.Sprintf("%d keys of the ssh agent", len(held)))
		}
	}
	for _, name := range host.identityFiles {
		text, err := atomicfile.ReadUser(ctx, name, maxUserFile)
		if err != nil {
			continue
		}
		short := strings.Replace(name, s.Home, "~", 1)
		signer, err := ssh.ParsePrivateKey(text)
		switch _, needsPassphrase := errors.AsType[*ssh.PassphraseMissingError](err); {
		case needsPassphrase:
			k.locked = append(k.locked, short)
		case err == nil:
			k.signers, k.tried = append(k.signers, signer), append(k.tried, short)
		}
	}
	return k, nil
}

func (k *sshKeys) refused(host sshHost) error {
	tried := "there was no key to offer"
	if len(k.tried) > 0 {
		tried = "it was offered " + strings.Join(k.tried, ", ")
	}
	if len(k.locked) > 0 {
		tried += "; " + strings.Join(k.locked, ", ") + " needs a passphrase, and there is no prompt for it: load it into the ssh agent"
	}
	return fmt.Errorf("%w: the ssh server %s does not let %s in: %s", git.ErrAuthentication, printable(host.name), printable(host.user), tried)
}

func (k *sshKeys) close() {
	if k.agent != nil {
		_ = k.agent.Close()
	}
}

type hostKeys struct {
	files []string
	db    *knownhosts.HostKeyDB
}

func (s SSH) knownHosts(address string) (*hostKeys, error) {
	h := &hostKeys{files: []string{"/etc/ssh/ssh_known_hosts"}}
	if s.Home != "" {
		h.files = append(h.files, filepath.Join(s.Home, ".ssh", "known_hosts"))
	}
	found := slices.DeleteFunc(slices.Clone(h.files), func(name string) bool {
		_, err := os.Stat(name)
		return err != nil
	})
	if len(found) == 0 {
		return nil, h.untrusted(address, git.UnknownKey, "there is no known_hosts file")
	}
	var err error
	if h.db, err = knownhosts.NewDB(found...); err != nil {
		return nil, fmt.Errorf("%w: the list of known ssh hosts cannot be read: %w", git.ErrHostUntrusted, err)
	}
	return h, nil
}

func (h *hostKeys) check(address string, remote net.Addr, key ssh.PublicKey) error {
	err := h.db.HostKeyCallback()(address, remote, key)
	shown := key.Type() + " " + ssh.FingerprintSHA256(key)
	switch {
	case err == nil:
		return nil
	case knownhosts.IsHostKeyChanged(err):
		return h.untrusted(address, git.ChangedKey, "its key "+shown+" differs from the known key, which may be an attack")
	case knownhosts.IsHostUnknown(err):
		return h.untrusted(address, git.UnknownKey, "its key "+shown+" is not known")
	}
	return fmt.Errorf("%w: the ssh host %s: %w", git.ErrHostUntrusted, printable(address), errors.Unwrap(err))
}

func (h *hostKeys) untrusted(address string, fault git.Fault, reason string) error {
	return &git.HostError{Is: git.ErrHostUntrusted, Fault: fault, Err: fmt.Errorf("the ssh host %s is not trusted: %s; compare it with what the host's owner says, and add it to %s",
		printable(address), reason, strings.Join(h.files, " or "))}
}

// maxShown bounds text from outside in an error, in bytes.
const maxShown = 300

func printable(s string) string {
	if len(s) > maxShown {
		s = s[:maxShown] + "[...]"
	}
	return strconv.QuoteToGraphic(s)
}

type sshSession struct {
	io.Reader
	io.Writer
	client  *ssh.Client
	session *ssh.Session
	said    sanitize.Tail
}

// endDelay is how long a server may take to end a session.
const endDelay = 5 * time.Second

func start(client *ssh.Client, path string) (*sshSession, error) {
	session, err := client.NewSession()
	if err != nil {
		return nil, fmt.Errorf("%w: the ssh server does not open a session: %w", git.ErrHostUnreachable, err)
	}
	s := &sshSession{client: client, session: session}
	session.Stderr = &s.said
	in, inErr := session.StdinPipe()
	out, outErr := session.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, err
	}
	s.Reader, s.Writer = out, in
	_ = session.Setenv("GIT_PROTOCOL", "version=2") // a server that refuses it answers in an older version
	if err := session.Start(gitwire.UploadPack(path)); err != nil {
		return nil, fmt.Errorf("the ssh server does not start git-upload-pack: %w", err)
	}
	return s, nil
}

func (s *sshSession) Wait() error {
	defer time.AfterFunc(endDelay, s.Close).Stop()
	err := s.session.Wait()
	if said := s.said.Excerpt(nil); err != nil && said != "" {
		text := fmt.Sprintf("the server says \"%s\"", strings.ReplaceAll(said[max(0, len(said)-maxShown):], "\n", "; "))
		if meaning := git.MeaningOf(said); meaning != nil { // git would show the same message
			meaning.Advice, meaning.Err = "", errors.New(text)
			return meaning
		}
		return errors.New(text)
	}
	if err != nil {
		return fmt.Errorf("%w: the server ended the connection: %w", git.ErrHostUnreachable, err)
	}
	return nil
}

func (s *sshSession) Close() { _ = s.client.Close() }

func (s *sshSession) Kill() { s.Close() }
