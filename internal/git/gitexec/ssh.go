package gitexec

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitwire"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/process/procgroup"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/process/trace"
)

// maxSSHConfig bounds "ssh -G", in bytes. Usually it has 5 KiB.
const maxSSHConfig = 256 << 10

// version2 is the variable by which git-upload-pack is asked for version 2 of the protocol.
const version2 = "GIT_PROTOCOL=version=2"

// repositoryVariables are not passed to ssh by git.
var repositoryVariables = [...]string{
	"GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_DIR", "GIT_NO_REPLACE_OBJECTS", "GIT_WORK_TREE",
}

// SSHNotUsed returns why ssh is left to git; "" if [Git.DialSSH] connects as git does.
func (g *Git) SSHNotUsed(ctx context.Context, target Target) string {
	if runtime.GOOS == "windows" {
		return "git has an ssh of its own on Windows"
	}
	found, err := g.findFor(ctx, target.Remote)
	switch {
	case err != nil:
		return "there is no usable git"
	case found.configErr != nil:
		return "the configuration of git cannot be read" // git will say what is wrong
	case allowed(g.Environ(), []string{"ssh"}) != "ssh":
		return "git has a setting for it: GIT_ALLOW_PROTOCOL"
	}
	for _, entry := range g.Environ() {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "GIT_TRACE") && value != "" {
			return "git has a setting for it: " + name
		}
	}
	if isSSH, known := g.ssh(found, &Network{}).isOpenSSH(); known && !isSSH {
		return "the ssh program of git's settings is not OpenSSH"
	}
	return ""
}

type sshProgram struct {
	// command is for a shell if isCommand is set, and otherwise the name of a program.
	command   string
	isCommand bool
	variant   string // the user's setting; "" if there is none
}

// ssh returns GIT_SSH_COMMAND, core.sshCommand, GIT_SSH or ssh, in this order.
func (g *Git) ssh(found program, n *Network) sshProgram {
	s := sshProgram{command: g.sshCommand(found, n), isCommand: true, variant: found.sshVariant}
	if s.command == "" {
		s.command, s.isCommand = g.Getenv("GIT_SSH"), false
	}
	if variant := g.Getenv("GIT_SSH_VARIANT"); variant != "" {
		s.variant = variant
	}
	return s
}

// isOpenSSH decides as git does, by ssh.variant and the program's name. Otherwise git asks the program.
func (s sshProgram) isOpenSSH() (is, known bool) {
	switch s.variant {
	case "", "auto":
	case "plink", "putty", "tortoiseplink", "simple":
		return false, true
	default:
		return true, true
	}
	name := s.command
	if s.isCommand {
		name, _, _ = strings.Cut(strings.TrimLeft(name, " \t\n"), " ")
	}
	switch strings.ToLower(path.Base(name)) {
	case "ssh":
		return true, true
	case "plink", "tortoiseplink":
		return false, true
	}
	return false, false
}

// argv uses a shell, like git, only for commands that are not just a name.
func (s sshProgram) argv(env, args []string) []string {
	if s.isCommand && strings.ContainsAny(s.command, "|&;<>()$`\\\"' \t\n*?[#~=%") {
		return append([]string{"/bin/sh", "-c", s.command + ` "$@"`, s.command}, args...)
	}
	name := s.command
	if !strings.Contains(name, "/") {
		if found := procgroup.Find(env, name); found != "" {
			name = found
		}
	}
	return append([]string{name}, args...)
}

// DialSSH starts git-upload-pack in version 2 on the server of an ssh address, as git does. keyFile is
// offered by ssh; "" means the user's own keys. An address that a server or a package has named is refused with an
// *[httpx.DeniedError] if its host leads to where they must not point.
func (g *Git) DialSSH(ctx context.Context, target Target, keyFile string) (*SSHConn, error) {
	d, err := g.newSSHDial(ctx, target, keyFile)
	if err != nil {
		return nil, err
	}
	if isSSH, known := d.program.isOpenSSH(); !known {
		if _, err := d.config(ctx); err != nil { // git decides in the same way
			return nil, fmt.Errorf("the ssh program of git's settings is not OpenSSH: %w", err)
		}
	} else if !isSSH {
		return nil, errors.New("the ssh program of git's settings is not OpenSSH")
	}
	if err := d.check(ctx); err != nil {
		return nil, err
	}
	return d.dial(ctx)
}

func (g *Git) newSSHDial(ctx context.Context, target Target, keyFile string) (*sshDial, error) {
	// Only here the address becomes arguments of another program.
	if err := git.CheckURL(target.URL, []string{"ssh"}); err != nil {
		return nil, err
	}
	found, err := g.findFor(ctx, target.Remote)
	if err != nil {
		return nil, err
	}
	network := &Network{SSHKeyFile: keyFile}
	env := procgroup.Without(g.environment(found, Command{Network: network}), repositoryVariables[:]...)
	d := &sshDial{
		git:     g,
		url:     target.URL,
		env:     append(procgroup.Without(env, "GIT_PROTOCOL"), version2),
		program: g.ssh(found, network),
		host:    sshHost(target.URL),
		command: gitwire.UploadPack(target.URL.Path),
	}
	if target.Home {
		d.command = gitwire.UploadPack(target.URL.Path[1:])
	}
	d.identity = sshIdentity{program: g.ssh(found, &Network{}), host: strings.Join(d.host, " ")}
	if keyFile != "" {
		key, err := os.ReadFile(keyFile)
		if err != nil {
			return nil, err
		}
		d.identity.key = sha256.Sum256(key)
	}
	return d, nil
}

// check resolves the host that ssh would connect to, by its settings, if a server or a package has named
// the address. A proxy in the settings resolves the name by itself.
func (d *sshDial) check(ctx context.Context) error {
	if httpx.Pointer(ctx) == nil {
		return nil
	}
	name := d.url.Hostname()
	if config, err := d.config(ctx); err == nil {
		for _, key := range []string{"proxyjump", "proxycommand"} {
			if proxy := config[key]; proxy != "" && proxy != "none" {
				return nil
			}
		}
		name = cmp.Or(config["hostname"], name)
	}
	_, err := httpx.CheckResolved(ctx, d.url, name)
	return err
}

type sshDial struct {
	git      *Git
	url      *url.URL
	env      []string
	program  sshProgram
	host     []string // the arguments up to the name of the host
	command  string   // for the server
	identity sshIdentity
}

// sshIdentity must be equal for connections to be shared.
type sshIdentity struct {
	program sshProgram
	host    string
	key     [sha256.Size]byte
}

// sshConfig is what "ssh -G" prints. Keys are in lower case.
type sshConfig map[string]string

func (d *sshDial) config(ctx context.Context) (sshConfig, error) {
	return singleflight.For(ctx, &d.git.sshConfigs).Do(ctx, d.identity, func(ctx context.Context) (sshConfig, error) {
		p := d.process(ctx, append([]string{"-G"}, d.host...))
		out, err := p.output(maxSSHConfig)
		config := sshConfig{}
		for line := range strings.Lines(string(out)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			config[key] = value
		}
		return config, err
	})
}

func (d *sshDial) start(ctx context.Context, asks sshAsks, options ...string) (*Process, error) {
	command := d.command
	if asks == asksByCommand {
		command = "env " + version2 + " " + command
	}
	p := d.process(ctx, slices.Concat(options, d.host, []string{command}))
	return p, p.startWithPipes()
}

func (d *sshDial) process(ctx context.Context, args []string) *Process {
	op := trace.Operation{Kind: "ssh", Target: addrs.Redact(d.url.String())}
	p := d.git.newProcess(ctx, op, Command{}, d.program.argv(d.env, args))
	p.program, p.cmd.Env = "ssh", d.env
	return p
}

// sshHost returns the arguments of ssh up to the name of the host.
func sshHost(u *url.URL) []string {
	args := []string{"-o", "SendEnv=GIT_PROTOCOL"}
	if port := u.Port(); port != "" {
		args = append(args, "-p", port)
	}
	host := u.Hostname()
	if u.User != nil {
		host = u.User.Username() + "@" + host
	}
	return append(args, host)
}
