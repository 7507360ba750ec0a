package treewalk

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
)

// dropUnnamable drops calls whose names cannot be in a module's path, and reports them as errors. Names become names of
// directories, and the reader of configuration may be a caller's.
func dropUnnamable(module config.Module, diags hcl.Diagnostics) (config.Module, hcl.Diagnostics) {
	var valid []config.Call
	for _, call := range module.Calls {
		err := CheckNames(call)
		if err == nil {
			valid = append(valid, call)
			continue
		}
		diag := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Invalid name of a module call", Detail: err.Error(), Extra: err}
		if call.Range.Filename != "" {
			diag.Subject = &call.Range
		}
		diags = append(slices.Clip(diags), diag)
	}
	module.Calls = valid
	return module, diags
}

// CheckNames returns an error unless the name of a call, and those before it, are as in a key of modules.json.
// Only the paths of modules that tests run have names before it.
func CheckNames(call config.Call) error {
	path := call.PathIn(nil)
	for _, names := range []addrs.Module{{call.Name}, path} {
		if _, err := names.MarshalText(); err != nil {
			return err
		}
	}
	if len(call.Prefix) > 0 && call.Prefix[0] != "test" {
		return &addrs.ParseError{What: "module path", Input: path.String(), Reason: "only a module that a test runs has names before its own, and the first of them is \"test\""}
	}
	return nil
}
