package localstate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/opendir"
)

const (
	// maxSize bounds a state file in bytes. Those of large projects have some 100 MB.
	maxSize = 1 << 30
	// fileName is the name of state files, and of the file in the data directory in
	// which stock tools record the backend.
	fileName = "terraform.tfstate"
)

// ErrLegacyProvider means that a state has a provider's address of the form that early
// versions of Terraform had, without a namespace. Stock tools refuse it as well.
var ErrLegacyProvider = errors.New("legacy provider address in the state")

// errUnknown says that a state is of a form that is not known.
var errUnknown = errors.New("the state is not one of version 4")

// Project says where the state of a project may be.
type Project struct {
	// Dir is the root module's directory, and DataDir the data directory of stock tools,
	// as this process reaches it.
	Dir, DataDir string
	// Workspace is the name of the selected workspace; "" if it is not known.
	Workspace string
	// Terraform says that the configuration is in the dialect of terraform.
	Terraform bool
	// Parser parses the providers' addresses.
	Parser addrs.Parser
}

// Needs is what the state of a project says about providers.
type Needs struct {
	// Unknown is why it is not known which providers the state needs; "" if it is, or if
	// there is no state yet.
	Unknown string
	// File is the state's name, relative to the root module; "" if there is none.
	File string
	// Providers are those of the state's resources without built-in ones, each once.
	Providers []addrs.Provider
}

// Read reads which providers the state needs. The error wraps [ErrLegacyProvider].
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
	src, err := readBelow(p.Dir, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(src)) == 0 {
		return Needs{}, nil
	}
	if err != nil {
		return Needs{Unknown: fmt.Sprintf("%s cannot be read", name)}, nil
	}
	providers, err := parse(src, p.Parser)
	if errors.Is(err, ErrLegacyProvider) {
		return Needs{}, fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		return Needs{Unknown: fmt.Sprintf("%s is encrypted or of another version", name)}, nil
	}
	return Needs{File: name, Providers: providers}, nil
}

// hasBackend reports whether the configuration has a backend, or the project had one
// from which stock tools have not moved the state yet.
func (p Project) hasBackend(ctx context.Context) bool {
	reader := configs.Reader{Terraform: p.Terraform}
	if reader.ReadSettings(ctx, configs.Dir{Path: p.Dir}).Backend {
		return true
	}
	src, err := readBelow(p.DataDir, fileName)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	var recorded struct {
		Backend *struct{} `json:"backend"`
	}
	return json.Unmarshal(src, &recorded) != nil || recorded.Backend != nil
}

// readBelow reads a state file below a directory. The error is over fs.ErrNotExist if
// it, or the directory, does not exist.
func readBelow(dir, name string) ([]byte, error) {
	name = filepath.Join(dir, filepath.FromSlash(name))
	opened, err := opendir.Root(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return atomicfile.Read(opened, filepath.Base(name), maxSize)
}

// parse returns the providers of the resources in a state. The error is over
// [ErrLegacyProvider], or errUnknown.
func parse(src []byte, parser addrs.Parser) ([]addrs.Provider, error) {
	var state struct {
		Version   int `json:"version"`
		Resources []struct {
			Module   string `json:"module"`
			Mode     string `json:"mode"`
			Type     string `json:"type"`
			Name     string `json:"name"`
			Provider string `json:"provider"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(src, &state); err != nil || state.Version != 4 {
		return nil, errUnknown
	}
	var found []addrs.Provider
	for _, resource := range state.Resources {
		_, quoted, isNew := strings.Cut(resource.Provider, `provider["`)
		address, _, closed := strings.Cut(quoted, `"]`)
		provider, err := parser.ParseProviderSource(address)
		_, _, isOld := strings.Cut("."+resource.Provider, ".provider.")
		switch {
		case isNew && closed && err == nil && provider.IsLegacy(), isOld && !isNew:
			return nil, fmt.Errorf("%w: resource %q has %q", ErrLegacyProvider, strings.TrimPrefix(resource.Module+"."+resource.Type+"."+resource.Name, "."), resource.Provider)
		case !closed || err != nil:
			return nil, errUnknown
		case !parser.IsBuiltIn(provider) && !slices.Contains(found, provider):
			found = append(found, provider)
		}
	}
	return found, nil
}
