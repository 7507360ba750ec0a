package inprocess

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// sshPort is the default port of ssh; see RFC 4250.
const sshPort = "22"

// sshHost describes how to log in to a host, according to the address and the user's
// configuration.
type sshHost struct {
	// address is the host and port to connect to.
	address string
	// knownAs is the host and port to look up in the lists of known hosts.
	knownAs string
	user    string
	// agentSocket is the path of the agent's socket; "" if there is none.
	agentSocket string
	// identityFiles are the names of the key files to use.
	identityFiles []string
	// identitiesOnly is set if other keys of the agent must not be offered.
	identitiesOnly bool
}

// hostOf applies the user's configuration to an address. The user and the port in the address
// take precedence.
func (s SSH) hostOf(ctx context.Context, u *url.URL) (*sshHost, error) {
	alias := u.Hostname()
	set, err := s.settingsOf(ctx, alias)
	if err != nil {
		return nil, err
	}
	if keyword, ok := set.usesProxy(); ok {
		return nil, failure(Unsupported, "the ssh configuration has a %s for the host %s", keyword, printable(alias))
	}
	name, err := expandTokens("HostName", cmp.Or(set.values["hostname"], "%h"), map[byte]string{'h': alias})
	if err != nil {
		return nil, err
	}
	port := cmp.Or(set.values["port"], sshPort)
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil, failure(Unsupported, "the ssh configuration has no valid port for the host %s: %s", printable(alias), printable(port))
	}
	port = cmp.Or(u.Port(), port)
	local, err := localUser()
	login := cmp.Or(u.User.Username(), set.values["user"], local)
	if login == "" {
		return nil, err
	}
	h := &sshHost{
		address:        net.JoinHostPort(name, port),
		user:           login,
		identitiesOnly: strings.EqualFold(set.values["identitiesonly"], "yes"),
	}
	h.knownAs = h.address
	if known := set.values["hostkeyalias"]; known != "" {
		h.knownAs = net.JoinHostPort(known, sshPort) // OpenSSH also ignores the port here
	}
	tokens := map[byte]string{
		'd': s.Home, 'h': name, 'k': cmp.Or(set.values["hostkeyalias"], alias), 'n': alias, 'p': port, 'r': login, 'u': local,
	}
	if h.agentSocket, err = s.agentOf(set, tokens); err != nil {
		return nil, err
	}
	h.identityFiles, err = s.identityFilesOf(set, tokens)
	return h, err
}

// agentOf returns the socket that IdentityAgent names, or the default socket.
func (s SSH) agentOf(set *hostSettings, tokens map[byte]string) (string, error) {
	switch agent := set.values["identityagent"]; {
	case agent == "" || agent == "SSH_AUTH_SOCK" || agent == "$SSH_AUTH_SOCK":
		return s.AgentSocket, nil
	case strings.EqualFold(agent, "none"):
		return "", nil
	default:
		return s.expandFile("IdentityAgent", agent, tokens)
	}
}

// identityFilesOf returns the files that IdentityFile lines name. If there are no such lines,
// it returns the default files of ssh.
func (s SSH) identityFilesOf(set *hostSettings, tokens map[byte]string) ([]string, error) {
	var files []string
	if len(set.identityFiles) == 0 && s.Home != "" {
		for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
			files = append(files, filepath.Join(s.Home, ".ssh", name))
		}
	}
	for _, name := range set.identityFiles {
		if strings.EqualFold(name, "none") {
			continue
		}
		file, err := s.expandFile("IdentityFile", name, tokens)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// expandFile expands "~" and tokens in the name of a file.
func (s SSH) expandFile(keyword, name string, tokens map[byte]string) (string, error) {
	if strings.HasPrefix(name, "$") || strings.Contains(name, "${") {
		return "", failure(Unsupported, "the ssh configuration has an environment variable in %s: %s", keyword, printable(name))
	}
	name, err := expandTokens(keyword, name, tokens)
	return inHome(name, s.Home), err
}

// expandTokens replaces the tokens of ssh_config(5), such as %h, in the value of a
// setting.
func expandTokens(keyword, value string, tokens map[byte]string) (string, error) {
	var expanded strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] != '%' {
			expanded.WriteByte(value[i])
			continue
		}
		i++
		if i < len(value) && value[i] == '%' {
			expanded.WriteByte('%')
			continue
		}
		replacement, ok := "", false
		if i < len(value) {
			replacement, ok = tokens[value[i]]
		}
		if !ok {
			return "", failure(Unsupported, "the ssh configuration has a token in %s that is not supported: %s", keyword, printable(value))
		}
		expanded.WriteString(replacement)
	}
	return expanded.String(), nil
}

// localUser returns the name of the user who runs this process.
func localUser() (string, error) {
	me, err := user.Current()
	if err != nil {
		return "", err
	}
	_, name, inDomain := strings.Cut(me.Username, `\`) // Windows
	if !inDomain {
		name = me.Username
	}
	return name, nil
}
