package config

import "fmt"

// Inputs are the values that the sources and versions of module calls may depend on. A
// value is ignored if its variable does not exist, or if no source or version needs it.
type Inputs struct {
	// Variables are the values of the root module's input variables. If a variable has
	// several values, the last one counts. These values take precedence over the module's
	// own terraform.tfvars and *.auto.tfvars.
	Variables []Variable
	// Environment maps the names of variables to values. The values in the module's own
	// files take precedence over them. The cotter command takes them from TF_VAR_NAME.
	Environment map[string]string
	// Workspace is the name of the workspace; "" means the one that was selected with a
	// stock tool, or "default".
	Workspace string
	// TestDir is the directory of the root module's tests, in addition to the root module's
	// own directory. It is relative to that directory; "" means "tests". The modules that
	// tests run are installed too.
	TestDir string
	// AllowFileReads lets functions such as file in the user's own modules read every file
	// that the process can read, as with stock tools. Otherwise they can read only files of
	// the git repository that the root module is in, and other files are a
	// *[FileReadError]. The modules of packages can always read only their package. A
	// source can send what it reads to any server, so set this only if the author of the
	// configuration may see all files of the user.
	AllowFileReads bool
	// Home is the user's home directory. A git repository that contains all of it, such as
	// one of dotfiles, does not count for AllowFileReads: the functions can then read only
	// the directory of the root module. "" means the directory that the operating system
	// knows for the user.
	Home string
}

// Variable gives a value to one input variable of the root module, or names a file with
// values.
type Variable struct {
	// Name is the name of the variable, and Value its value, as on the command line of
	// stock tools. For a variable of type string, number or bool, or without a type, Value
	// is the text of the value. For other types, it is an expression in HCL native syntax.
	Name, Value string
	// File is a file of values in the format of terraform.tfvars, or of JSON if its name
	// ends in ".json". It is relative to the root module's directory. It is used if Name is
	// empty.
	File string
}

// FileReadError says that a source or a version depends on a file that the configuration may
// not read. [Inputs.AllowFileReads] allows it.
type FileReadError struct {
	// Path is the name of the file in the configuration. It is "" if it is computed from a
	// sensitive or ephemeral value.
	Path string
	// Allowed is the directory whose files may be read, as an absolute path without symbolic
	// links. It is "" if no file may be read.
	Allowed string
	// Reason is why the file may not be read, as the end of a sentence.
	Reason string
}

func (e *FileReadError) Error() string {
	return fmt.Sprintf("%q cannot be read by a source or a version: %s", e.Path, e.Reason)
}

// UnknownToTerraform is the Extra of a diagnostic about a value that Terraform does not know before the
// modules are installed. OpenTofu may know it. See [hcl.DiagnosticExtra].
type UnknownToTerraform struct{}
