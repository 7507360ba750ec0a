package initwd

import (
	"context"
	"errors"
	"fmt"

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
	for moduleErr := range installer.ModuleErrors(err) {
		diags = append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  summary(moduleErr),
			Detail:   fmt.Sprintf("Module %q (%s): %s.", moduleErr.Path, moduleErr.Source, moduleErr.Err),
			Subject:  moduleErr.Range.Ptr(),
		})
	}
	var locked *installer.LockedError
	if errors.As(err, &locked) {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Dependency lock file is not up to date", Detail: locked.Error()})
	}
	if err != nil && len(diags) == 0 {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Failed to install modules", Detail: err.Error()})
	}
	return diags
}

// warningText returns the message of a warning, with the module that it is about.
func warningText(w event.Warning) string {
	if w.Path.IsRoot() {
		return w.Message
	}
	return fmt.Sprintf("Module %q: %s.", w.Path, w.Message)
}

// summary returns OpenTofu's summary of an error about a module.
func summary(err *installer.ModuleError) string {
	var noMatch *versions.NoMatchError
	var request *registryclient.RequestError
	source, _ := cotteraddrs.ParseModuleSource(err.Source)
	_, local := source.(cotteraddrs.ModuleSourceLocal)
	switch {
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
