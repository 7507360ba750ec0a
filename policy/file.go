package policy

import "github.com/hashicorp/hcl/v2"

// FileName is the name of the file in a repository that contains a project's policy and
// settings.
const FileName = "cotter.hcl"

// FileError says that a file with a policy or settings is invalid. It wraps
// hcl.Diagnostics.
type FileError struct {
	File        string
	Diagnostics hcl.Diagnostics
}

func (e *FileError) Error() string { return e.Diagnostics.Error() }
func (e *FileError) Unwrap() error { return e.Diagnostics }
