package localstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/opendir"
)

const (
	// maxSize is the maximum size of a state file in bytes. Large projects have states of some 100
	// MB.
	maxSize = 1 << 30
	// fileName is the name of state files, and also of the file in the data directory in which
	// stock tools record the backend.
	fileName = "terraform.tfstate"
)

// ErrLegacyProvider means that a state has a provider address from early versions of Terraform,
// without a namespace. Stock tools refuse it as well.
var ErrLegacyProvider = errors.New("legacy provider address in the state")

// errUnknown says that the format of a state is not known.
var errUnknown = errors.New("the state is not one of version 4")

// errEmpty says that a state file is empty.
var errEmpty = errors.New("the state file is empty")

// Project says where the state of a project may be.
type Project struct {
	// Dir is the path of the root module's directory, and DataDir is the path of the stock tools'
	// data directory.
	Dir, DataDir string
	// Workspace is the name of the selected workspace, or "" if it is not known.
	Workspace string
	// Terraform reports whether the configuration is in the terraform dialect.
	Terraform bool
	// Parser parses the addresses of providers.
	Parser addrs.Parser
}

// Needs describes which providers the state of a project needs.
type Needs struct {
	// Unknown is the reason why the needed providers are not known. It is "" if they are known or
	// if there is no state yet.
	Unknown string
	// File is the name of the state file, relative to the root module, or "" if there is none.
	File string
	// Providers are the providers of the state's resources, without duplicates and built-in
	// providers.
	Providers []addrs.Provider
}

// Read reads which providers the state needs. Its error wraps [ErrLegacyProvider].
func Read(ctx context.Context, p Project) (Needs, error) {
	if p.hasBackend(ctx) {
		return Needs{Unknown: "a backend keeps it"}, nil
	}
	if url.PathEscape(p.Workspace) != p.Workspace || strings.Trim(p.Workspace, ".") == "" { // not a workspace's name
		return Needs{Unknown: "the selected workspace is not known"}, nil
	}
	name := fileName
	if p.Workspace != "default" {
		name = "terraform.tfstate.d/" + p.Workspace + "/" + fileName
	}
	providers, err := p.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errEmpty):
		return Needs{}, nil
	case errors.Is(err, ErrLegacyProvider):
		return Needs{}, fmt.Errorf("%s: %w", name, err)
	case errors.Is(err, errUnknown):
		return Needs{Unknown: fmt.Sprintf("%s is encrypted or of another version", name)}, nil
	case err != nil:
		return Needs{Unknown: fmt.Sprintf("%s cannot be read", name)}, nil
	}
	return Needs{File: name, Providers: providers}, nil
}

// read returns the providers in a state file.
func (p Project) read(name string) ([]addrs.Provider, error) {
	file, err := openBelow(p.Dir, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return parse(file, p.Parser)
}

// hasBackend reports whether the configuration has a backend, or the project had one from which
// stock tools have not yet moved the state.
func (p Project) hasBackend(ctx context.Context) bool {
	reader := configs.Reader{Terraform: p.Terraform}
	if reader.ReadSettings(ctx, configs.Dir{Path: p.Dir}).Backend {
		return true
	}
	file, err := openBelow(p.DataDir, fileName)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer file.Close()
	var recorded struct {
		Backend *struct{} `json:"backend"`
	}
	return json.NewDecoder(file).Decode(&recorded) != nil || recorded.Backend != nil
}

// openBelow opens a state file below a directory. If the file or the directory does not exist,
// the error wraps fs.ErrNotExist.
func openBelow(dir, name string) (*os.File, error) {
	name = filepath.Join(dir, filepath.FromSlash(name))
	opened, err := opendir.Root(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return atomicfile.Open(opened, filepath.Base(name), maxSize)
}
