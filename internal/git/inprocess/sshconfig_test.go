package inprocess_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/git/inprocess"
	"github.com/cotterpin/cotter/internal/trace"
)

// homeWith makes a home directory with files below .ssh and returns its path. "HOME" in
// the files is replaced by the path.
func homeWith(t testing.TB, files map[string]string) string {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		name = filepath.Join(home, ".ssh", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.ReplaceAll(text, "HOME", home)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func loginOf(t testing.TB, home, address string) (inprocess.Login, error) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return inprocess.SSH{Home: home, AgentSocket: "/agent"}.Login(t.Context(), u)
}

// TestSSHConfig checks how a configuration applies to an address. In the results, HOME
// stands for the home directory.
func TestSSHConfig(t *testing.T) {
	t.Parallel()
	defaults := []string{"HOME/.ssh/id_ed25519", "HOME/.ssh/id_ecdsa", "HOME/.ssh/id_rsa"}
	plain := inprocess.Login{Address: "forge:22", KnownAs: "forge:22", User: "git", AgentSocket: "/agent", IdentityFiles: defaults}
	with := func(change func(l *inprocess.Login)) inprocess.Login {
		l := plain
		change(&l)
		return l
	}
	at := func(address string) inprocess.Login {
		return with(func(l *inprocess.Login) { l.Address, l.KnownAs = address, address })
	}
	keys := func(files ...string) inprocess.Login {
		return with(func(l *inprocess.Login) { l.IdentityFiles = files })
	}
	for name, tt := range map[string]struct {
		config  string
		more    map[string]string // more files below .ssh
		address string            // if empty, ssh://git@forge/x
		want    inprocess.Login
	}{
		"no file for the host": {config: "Host other\n HostName elsewhere\n", want: plain},
		"all settings": {
			config:  "Host forge\n  HostName git.example.com\n  Port 2222\n  User deploy\n  IdentityFile ~/.ssh/deploy\n",
			address: "ssh://forge/x",
			want: inprocess.Login{
				Address: "git.example.com:2222", KnownAs: "git.example.com:2222", User: "deploy", AgentSocket: "/agent",
				IdentityFiles: []string{"HOME/.ssh/deploy"},
			},
		},
		"the address has user and port": {config: "Host forge\n User deploy\n Port 2222\n", address: "ssh://git@forge:23/x", want: at("forge:23")},
		"first value counts":            {config: "Host f*\n HostName a\nHost forge\n HostName b\n", want: at("a:22")},
		"before the first host":         {config: "Port 2222\nHost forge\n Port 23\n", want: at("forge:2222")},
		"negated pattern":               {config: "Host * !forge\n HostName a\n", want: plain},
		"other spellings":               {config: "HOST\t\"forge\" other # the forge\r\n\thostname=a\r\n\tPORT = \"23\"\r\n", want: at("a:23")},
		"token in HostName":             {config: "Host forge\n HostName %h.example.com\n", want: at("forge.example.com:22")},
		"IPv6":                          {config: "Host forge\n HostName ::1\n", want: at("[::1]:22")},
		"key of another host": {
			config: "Host forge\n HostName a\n Port 23\n HostKeyAlias known\n",
			want:   with(func(l *inprocess.Login) { l.Address, l.KnownAs = "a:23", "known:22" }),
		},
		"several keys": {config: "Host forge\n IdentityFile ~/.ssh/a\nHost *\n IdentityFile \"~/my keys/b\"\n", want: keys("HOME/.ssh/a", "HOME/my keys/b")},
		"tokens in IdentityFile": {config: "Host forge\n HostName a\n IdentityFile %d/%n-%h-%p-%r-%%\n", want: with(func(l *inprocess.Login) {
			l.Address, l.KnownAs, l.IdentityFiles = "a:22", "a:22", []string{"HOME/forge-a-22-git-%"}
		})},
		"no key":                   {config: "IdentityFile none\n", want: keys()},
		"no agent":                 {config: "IdentityAgent none\n", want: with(func(l *inprocess.Login) { l.AgentSocket = "" })},
		"another agent":            {config: "IdentityAgent \"~/some where/agent\"\n", want: with(func(l *inprocess.Login) { l.AgentSocket = "HOME/some where/agent" })},
		"the same agent":           {config: "IdentityAgent SSH_AUTH_SOCK\n", want: plain},
		"only named keys":          {config: "IdentitiesOnly yes\n", want: with(func(l *inprocess.Login) { l.IdentitiesOnly = true })},
		"Match blocks":             {config: "Match host forge exec \"touch HOME/ran\"\n HostName a\nMatch originalhost forge\n ProxyJump b\nHost forge\n HostName c\nMatch user git\n Port 23\n", want: at("c:22")},
		"Match all":                {config: "Host other\n Port 24\nMatch all # hosts\n Port 23\n", want: at("forge:23")},
		"a proxy of another host":  {config: "Host other\n ProxyJump b\n", want: plain},
		"no proxy":                 {config: "Host forge\n ProxyJump none\nHost *\n ProxyCommand nc %h %p\n", want: plain},
		"Include":                  {config: "Include config.d/* ~/absent\nHost forge\n Port 24\n", more: map[string]string{"config.d/1": "Host forge\n Port 23\n", "config.d/2": "Port 25\n", "config.d/dir/3": ""}, want: at("forge:23")},
		"Include in a block":       {config: "Host other\n Include ~/.ssh/more\nHost *\n User nobody\n", more: map[string]string{"more": "Port 23\n"}, want: plain},
		"block of an included end": {config: "Host forge\n Include HOME/.ssh/more\n Port 23\n", more: map[string]string{"more": "Host other\n User nobody\n"}, want: at("forge:23")},
		"Match in an included one": {config: "Include more\n", more: map[string]string{"more": "Match final all\n Port 23\n"}, want: plain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"config": tt.config}
			for name, text := range tt.more {
				files[name] = text
			}
			home := homeWith(t, files)
			address := tt.address
			if address == "" {
				address = "ssh://git@forge/x"
			}
			checkLogin(t, home, address, tt.want)
		})
	}
}

// checkLogin checks the login that results from the configuration in a home directory.
func checkLogin(t *testing.T, home, address string, want inprocess.Login) {
	t.Helper()
	got, err := loginOf(t, home, address)
	if err != nil {
		t.Fatal(err)
	}
	got.AgentSocket = strings.ReplaceAll(got.AgentSocket, home, "HOME")
	for i, file := range got.IdentityFiles {
		got.IdentityFiles[i] = filepath.ToSlash(strings.ReplaceAll(file, home, "HOME"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("login (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(home, "ran")); err == nil {
		t.Error("a program of the configuration was run")
	}
	likeOpenSSH(t, home, address, got)
}

// likeOpenSSH compares a result with the output of "ssh -G", if ssh is installed. It skips
// configurations that mean something else to ssh, which looks for ~ in the account's home
// directory and supports Match.
func likeOpenSSH(t *testing.T, home, address string, got inprocess.Login) {
	t.Helper()
	config := filepath.Join(home, ".ssh", "config")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	ssh, err := exec.LookPath("ssh")
	if err != nil || strings.Contains(string(text), "Match ") || strings.Contains(string(text), "Include config.d") {
		return
	}
	u, _ := url.Parse(address)
	args := []string{"-F", config, "-G"}
	if u.User != nil {
		args = append(args, "-l", u.User.Username())
	}
	if u.Port() != "" {
		args = append(args, "-p", u.Port())
	}
	out, err := exec.CommandContext(t.Context(), ssh, append(args, u.Hostname())...).Output()
	if err != nil {
		t.Fatalf("ssh -G: %v", err)
	}
	printed := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		keyword, value, _ := strings.Cut(lines.Text(), " ")
		printed[keyword] = value
	}
	want := got
	want.Address, want.User = net.JoinHostPort(printed["hostname"], printed["port"]), printed["user"]
	want.KnownAs = want.Address
	if alias := printed["hostkeyalias"]; alias != "" && alias != "none" {
		want.KnownAs = net.JoinHostPort(alias, "22")
	}
	want.IdentitiesOnly = printed["identitiesonly"] == "yes"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("not as by OpenSSH (-OpenSSH +got):\n%s", diff)
	}
	if proxy := printed["proxyjump"]; proxy != "" && proxy != "none" {
		t.Errorf("OpenSSH has a proxy: %s", proxy)
	}
}

func TestSSHConfigUnsupported(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		says  []string
	}{
		"ProxyJump":            {map[string]string{"config": "Host forge\n ProxyJump bastion\n"}, []string{"ProxyJump", `"forge"`}},
		"ProxyCommand":         {map[string]string{"config": "Host *\n ProxyCommand nc %h %p\n ProxyJump none\n"}, []string{"ProxyCommand", `"forge"`}},
		"proxy of an include":  {map[string]string{"config": "Include more\n", "more": "proxyjump bastion\n"}, []string{"proxyjump"}},
		"port":                 {map[string]string{"config": "Port 65536\n"}, []string{"port", "65536"}},
		"token in HostName":    {map[string]string{"config": "HostName %C\n"}, []string{"HostName", "%C"}},
		"token at the end":     {map[string]string{"config": "HostName a%\n"}, []string{"HostName", "a%"}},
		"token in a key":       {map[string]string{"config": "IdentityFile ~/%L\n"}, []string{"IdentityFile", "%L"}},
		"variable in a key":    {map[string]string{"config": "IdentityFile ${KEYS}/a\n"}, []string{"IdentityFile", "${KEYS}"}},
		"variable as an agent": {map[string]string{"config": "IdentityAgent $AGENT\n"}, []string{"IdentityAgent", "$AGENT"}},
		"Host without a name":  {map[string]string{"config": "Port 22\nHost\n HostName a\n"}, []string{"config", "line 2"}},
		"long line":            {map[string]string{"config": "User " + strings.Repeat("x", 4<<10) + "\n"}, []string{"line 1"}},
		"large file":           {map[string]string{"config": strings.Repeat("# comment\n", 1<<17)}, []string{"config", "larger"}},
		"large files":          {map[string]string{"config": "Include more more more", "more": strings.Repeat("# comment\n", 1<<16)}, []string{"more", "larger"}},
		"includes itself":      {map[string]string{"config": "Include config\n"}, []string{"too many"}},
		"includes itself twice": {
			map[string]string{"config": "Include config\nInclude config\n"}, []string{"too many"},
		},
		"directory": {map[string]string{"config/file": ""}, []string{"config"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := loginOf(t, homeWith(t, tt.files), "ssh://forge/x")
			failed, ok := errors.AsType[*inprocess.Error](err)
			if !ok || failed.Kind != inprocess.Unsupported {
				t.Fatalf("login = %+v, %v, want an error of the kind Unsupported", got, err)
			}
			if i := slices.IndexFunc(tt.says, func(s string) bool { return !strings.Contains(err.Error(), s) }); i >= 0 {
				t.Errorf("error is %q, want %q in it", err, tt.says[i])
			}
		})
	}
}

// TestSSHConfigAbsent uses home directories without a configuration.
func TestSSHConfigAbsent(t *testing.T) {
	t.Parallel()
	for _, home := range []string{"", t.TempDir(), os.DevNull} {
		got, err := loginOf(t, home, "ssh://git@forge/x")
		if err != nil || got.Address != "forge:22" {
			t.Errorf("login with home %q = %+v, %v", home, got, err)
		}
	}
}

// FuzzSSHConfig looks for files that make the parser panic or run forever.
func FuzzSSHConfig(f *testing.F) {
	for _, seed := range []string{
		"Host forge\n HostName a\n", "Host\n", "Match\n", "Match all\n", "Include\n", "Include [\n", "=\n", "= = =\n", "Host !\n", "Host \" \"\n",
		"\"Host\" forge\n", "a\rb c\n", "Host forge", "Host ( [ \\ {\n", "Port =\n", "\x00\xff \xfe\n", "Host forge\n#\n \t\n", "Host #\n", "IdentityFile \"\n", "X-Include config\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, config string) {
		got, err := loginOf(t, homeWith(t, map[string]string{"config": config}), "ssh://git@forge/x")
		if failed, ok := errors.AsType[*inprocess.Error](err); err != nil && (!ok || failed.Kind != inprocess.Unsupported) {
			t.Errorf("login = %v", err)
		}
		if err == nil && (got.Address == "" || got.User != "git") {
			t.Errorf("login = %+v", got)
		}
	})
}

// A login is an operation of the run, also if it fails. Its address has no password.
func TestSSHTrace(t *testing.T) {
	t.Parallel()
	var begun []trace.Operation
	var ended []error
	ctx := trace.With(t.Context(), func(ctx context.Context, op trace.Operation) (context.Context, func(error)) {
		begun = append(begun, op)
		return ctx, func(err error) { ended = append(ended, err) }
	})
	u := &url.URL{Scheme: "ssh", User: url.UserPassword("git", "hunter2"), Host: "127.0.0.1:1", Path: "/net.git"}
	stream := inprocess.SSH{Home: homeWith(t, nil)}.Transport(u)
	defer stream.Close()
	err := stream.Refs(ctx, func(io.Reader) error { return nil })
	if err == nil || len(ended) != 1 || ended[0] == nil {
		t.Errorf("Refs = %v, the operations ended with %v", err, ended)
	}
	if diff := cmp.Diff([]trace.Operation{{Kind: "ssh", Target: "ssh://127.0.0.1:1/net.git"}}, begun); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}
