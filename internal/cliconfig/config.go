package cliconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
)

// Token is a secret. It prints as "REDACTED"; Secret gives it away.
type Token struct{ secret string }

// Secret is the token itself.
func (t Token) Secret() string { return t.secret }

// String hides the token.
func (Token) String() string { return "REDACTED" }

// GoString hides the token.
func (Token) GoString() string { return "REDACTED" }

// MarshalText hides the token.
func (Token) MarshalText() ([]byte, error) { return []byte("REDACTED"), nil }

// Config is what was found. The zero value is empty.
type Config struct {
	// Tokens are the bearer tokens for hosts.
	Tokens map[addrs.Hostname]Token
	// Services are those of hosts for which there is to be no discovery, by
	// service identifier.
	Services map[addrs.Hostname]map[string]any
}

// Source is where the configuration is read from.
type Source struct {
	// Environ is the environment, as in os.Environ.
	Environ []string
	// Home is the user's home directory; "" for none.
	Home string
	// Terraform reads what terraform reads, not what tofu does.
	Terraform bool
}

// maxFile bounds a configuration file. A large one has a few kilobytes.
const maxFile = 1 << 20

// Load reads the configuration. A file that TF_CLI_CONFIG_FILE names and that
// does not exist is a warning, as in stock tools; a file that cannot be read or
// understood is an error with its place. No diagnostic holds a token.
func (s Source) Load() (*Config, hcl.Diagnostics) {
	config := &Config{Tokens: map[addrs.Hostname]Token{}, Services: map[addrs.Hostname]map[string]any{}}
	var diags hcl.Diagnostics
	for _, file := range s.files() {
		src, err := readFile(file.name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !file.named:
			continue
		case errors.Is(err, fs.ErrNotExist):
			diags = append(diags, diagnostic(hcl.DiagWarning, "The CLI configuration file does not exist", file.name, err))
			continue
		case err != nil:
			diags = append(diags, diagnostic(hcl.DiagError, "The CLI configuration file cannot be read", file.name, err))
			continue
		}
		diags = append(diags, config.add(file.name, src)...)
	}
	config.addEnvironment(s.Environ)
	return config, diags
}

func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	return os.ReadFile(name)
}

func diagnostic(severity hcl.DiagnosticSeverity, summary, name string, err error) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: severity, Summary: summary, Detail: fmt.Sprintf("%s: %s.", name, err), Extra: err}
}

// lookup is a variable's value; "" where it is not set.
func (s Source) lookup(name string) string {
	for i := len(s.Environ) - 1; i >= 0; i-- { // the last one counts
		if value, ok := strings.CutPrefix(s.Environ[i], name+"="); ok {
			return value
		}
	}
	return ""
}
