package initwd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	cotteraddrs "github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// installDiagnostics returns the diagnostics for an error of installer.Installer: one for each module.
func installDiagnostics(err error) hcl.Diagnostics {
	var diags hcl.Diagnostics
	add := func(summary, detail string, at hcl.Range) {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: subject(at)})
	}
	for moduleErr := range installer.ModuleErrors(err) {
		add(summary(moduleErr), detail(moduleErr), moduleErr.Range)
	}
	if conflict, ok := errors.AsType[*installer.ConflictError](err); ok {
		title, text, _ := strings.Cut(conflict.Error(), "\n\n")
		add(title, text, hcl.Range{})
	}
	if locked, ok := errors.AsType[*installer.LockedError](err); ok {
		add("Dependency lock file is not up to date", locked.Error()+"\n\n"+`To record these changes, run "tofu init" without the "-lockfile=readonly" flag.`, hcl.Range{})
	}
	if err != nil && len(diags) == 0 {
		add("Failed to install modules", err.Error(), hcl.Range{})
	}
	return diags
}

// subject returns the range of a diagnostic, which is nil if it is not about a place in a file.
func subject(at hcl.Range) *hcl.Range {
	if at.Filename == "" {
		return nil
	}
	return &at
}

// warningDiagnostic returns the diagnostic for a warning, or nil for that about a version argument next to a
// source of git or OCI, which OpenTofu accepts with our files.
func warningDiagnostic(w event.Warning) hcl.Diagnostics {
	d := &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Module installation", Detail: w.Message, Subject: subject(w.Range), Extra: eachShown{}}
	if !w.Path.IsRoot() {
		d.Detail = fmt.Sprintf("Module %q: %s.", w.Path, w.Message)
	}
	switch w.Kind {
	case event.WarningVersionArgument:
		return nil
	case event.WarningRestored:
		d.Summary = "Installed module was modified"
	case event.WarningMoved:
		d.Summary = "Module has other content than the lock file"
		d.Detail += "\n\n" + acceptAdvice
	}
	return hcl.Diagnostics{d}
}

// eachShown is the Extra of warnings that are all shown, also if several have the same summary.
type eachShown struct{}

func (eachShown) DoNotConsolidateDiagnostic() bool { return true }

const acceptAdvice = `To update the lock file with the new checksum, run:
  tofu init -upgrade -lockfile=accept-changed`

// detail returns the text of an error about a module, with what to do next if its content has changed.
func detail(err *installer.ModuleError) string {
	text := fmt.Sprintf("Module %q (%s): %s", err.Path, err.Source, strings.TrimPrefix(err.Err.Error(), checksumFailed+": "))
	if hasOtherContent(err) {
		return text + "\n\n" + acceptAdvice
	}
	return text + "."
}

const checksumFailed = "Module checksum verification failed"

func hasOtherContent(err error) bool {
	return errors.As(err, new(*installer.HashMismatchError)) || errors.As(err, new(*installer.ContentChangedError))
}

// summary returns OpenTofu's summary of an error about a module.
func summary(err *installer.ModuleError) string {
	var noMatch *versions.NoMatchError
	var request *registryclient.RequestError
	source, _ := cotteraddrs.ParseModuleSource(err.Source)
	_, local := source.(cotteraddrs.ModuleSourceLocal)
	switch {
	case hasOtherContent(err):
		return checksumFailed
	case errors.Is(err, context.Canceled):
		return "Module installation was interrupted"
	case errors.Is(err, installer.ErrEscapesPackage):
		return "Local module path escapes module package"
	case local:
		return "Unreadable module directory"
	case errors.Is(err, installer.ErrNoSubdir):
		return "Module subdirectory not found"
	case errors.As(err, &noMatch):
		return "Unresolvable module version constraint"
	case errors.Is(err, registryclient.ErrNotFound):
		return "Module not found"
	case errors.As(err, &request):
		return "Error accessing remote module registry"
	}
	return "Failed to download module"
}
