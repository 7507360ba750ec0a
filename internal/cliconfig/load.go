package cliconfig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/cliconfig/hcl1"
	"github.com/cotterpin/cotter/internal/hcldepth"
	"github.com/cotterpin/cotter/internal/userfile"
)

// maxFile bounds a configuration file. A large one has a few kilobytes.
const maxFile = 1 << 20

// Load reads the configuration. A file may be a pipe, which is read until its
// writer has closed it or ctx is done.
//
// A file that TF_CLI_CONFIG_FILE names and that does not exist is a warning, as
// in stock tools. So is a file in the home directory that the user has no right
// to read: a container may run as another user than the one that its HOME is
// of. All other files that cannot be read or understood are errors with their
// place. The Config holds what could be read also then. No diagnostic holds a
// secret.
func (s Source) Load(ctx context.Context) (*Config, hcl.Diagnostics) {
	config := &Config{
		Services: map[addrs.Hostname]map[string]any{},
		environ:  map[addrs.Hostname]credentials{},
		files:    map[addrs.Hostname]credentials{},
		programs: s.programs(),
		oci:      ociConfig{files: s.dockerFiles(), warn: s.Warn},
	}
	diags := config.addEnvironment(s)
	for _, file := range s.files() {
		diags = append(diags, config.load(ctx, file)...)
	}
	return config, diags
}

// load adds what a file says.
func (c *Config) load(ctx context.Context, file file) hcl.Diagnostics {
	src, err := userfile.Read(ctx, file.name, maxFile)
	switch {
	case userfile.Absent(err) && !file.named:
		return nil
	case userfile.Absent(err):
		return hcl.Diagnostics{fileFault(hcl.DiagWarning, "The CLI configuration file does not exist", file.name, err)}
	case errors.Is(err, fs.ErrPermission) && !file.named:
		return hcl.Diagnostics{fileFault(hcl.DiagWarning, "The CLI configuration file cannot be read and is skipped", file.name, err)}
	case err != nil:
		return hcl.Diagnostics{fileFault(hcl.DiagError, "The CLI configuration file cannot be read", file.name, err)}
	}
	d := decoder{config: c, name: file.name}
	object, err := hcl1.Parse(src, hcldepth.MaxDepth)
	if syntax, ok := errors.AsType[*hcl1.SyntaxError](err); ok {
		d.fault(syntax.Pos, "The file cannot be understood: %s.", syntax.Reason)
		return d.diags
	}
	d.file(object)
	return d.diags
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
