package cotter

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/opendir"
)

// Variable gives an input variable of the root module a value, or many theirs.
type Variable struct {
	// Name is the variable's name, and Value its value as on the command line
	// of stock tools: the text of a string, a number or a bool for a variable
	// of such a type or of none, and an expression of the HCL native syntax for
	// any other.
	Name, Value string
	// File is a file of values in the form of terraform.tfvars, or of JSON if
	// its name ends in ".json", relative to the root module's directory. It
	// counts where there is no Name.
	File string
}

// maxWorkspace bounds the file that has the name of the selected workspace, in
// bytes.
const maxWorkspace = 4096

// workspace is the workspace of the request, or else the one that was selected
// with a stock tool.
func (r Request) workspace() (string, error) {
	if r.Workspace != "" {
		return r.Workspace, nil
	}
	data, err := opendir.Root(r.dataPath())
	if errors.Is(err, fs.ErrNotExist) {
		return "default", nil
	}
	if err != nil {
		return "", err
	}
	defer data.Close()
	name, err := atomicfile.Read(data, "environment", maxWorkspace)
	if errors.Is(err, fs.ErrNotExist) {
		return "default", nil
	}
	return orElse(strings.TrimSpace(string(name)), "default"), err
}

func (r Request) testDir() string { return orElse(r.TestDir, configs.DefaultTests) }
