package cliconfig

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/cliconfig/hcl1"
	"github.com/cotterpin/cotter/internal/nesting"
)

// maxFile bounds a configuration file. A large one has a few kilobytes.
const maxFile = 1 << 20

// Load reads the configuration. A file that TF_CLI_CONFIG_FILE names and that
// does not exist is a warning, as in stock tools; a file that cannot be read or
// understood is an error with its place. The Config holds what could be read
// also then. No diagnostic holds a secret.
func (s Source) Load() (*Config, hcl.Diagnostics) {
	config := &Config{
		Services: map[addrs.Hostname]map[string]any{},
		environ:  map[addrs.Hostname]credentials{},
		files:    map[addrs.Hostname]credentials{},
		programs: s.programs(),
		oci:      ociConfig{files: s.dockerFiles()},
	}
	diags := config.addEnvironment(s)
	for _, file := range s.files() {
		diags = append(diags, config.load(file)...)
	}
	return config, diags
}

// load adds what a file says.
func (c *Config) load(file file) hcl.Diagnostics {
	src, err := readFile(file.name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !file.named:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return hcl.Diagnostics{fileFault(hcl.DiagWarning, "The CLI configuration file does not exist", file.name, err)}
	case err != nil:
		return hcl.Diagnostics{fileFault(hcl.DiagError, "The CLI configuration file cannot be read", file.name, err)}
	}
	d := decoder{config: c, name: file.name}
	object, err := hcl1.Parse(src, nesting.DefaultLimit)
	if syntax, ok := errors.AsType[*hcl1.SyntaxError](err); ok {
		d.fault(syntax.Pos, "The file cannot be understood: %s.", syntax.Reason)
		return d.diags
	}
	d.file(object)
	return d.diags
}

// readFile reads a file that is no larger than it should be.
func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe would never end
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(src) > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	return src, err
}

func fileFault(severity hcl.DiagnosticSeverity, summary, name string, err error) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: severity, Summary: summary, Detail: fmt.Sprintf("%q: %s.", name, reason(err)), Extra: err}
}

// reason is an error without the name of its file, for messages that have it.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
