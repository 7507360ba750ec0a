package cotter

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/opendir"
)

// maxState bounds a state file in bytes. Those of large projects have some 100 MB.
const maxState = 1 << 30

// projectState is what the state of a project says about providers: stock tools
// install those that it needs as well.
type projectState struct {
	// known says that the state is in the project, or that there is none yet. A
	// backend's state is not read, which takes credentials.
	known bool
	// file is the state's name, relative to the root module; "" if there is none.
	file      string
	providers []addrs.Provider
}

// readState reads which providers the state in the project needs. A state that cannot
// be read, an encrypted one for example, is one that is not known.
func (p *openProject) readState(ctx context.Context) projectState {
	reader := configs.Reader{Terraform: p.dialect == DialectTerraform}
	if reader.ReadSettings(ctx, configs.Dir{Path: p.req.dir()}).Backend {
		return projectState{}
	}
	workspace, err := p.req.workspace()
	if err != nil {
		return projectState{}
	}
	name := "terraform.tfstate"
	if workspace != "default" {
		name = filepath.Join("terraform.tfstate.d", workspace, name)
	}
	dir, err := opendir.Root(filepath.Join(p.req.dir(), filepath.Dir(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return projectState{known: true}
	}
	if err != nil {
		return projectState{}
	}
	defer dir.Close()
	src, err := atomicfile.Read(dir, filepath.Base(name), maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return projectState{known: true}
	}
	if err != nil {
		return projectState{}
	}
	providers, ok := stateProviders(src, p.dialect.parser())
	return projectState{known: ok, file: filepath.ToSlash(name), providers: providers}
}

// stateProviders returns the providers of the resources in a state of version 4, whose
// form is described by the stock tools' state documentation: each resource has an
// address such as provider["registry.opentofu.org/hashicorp/null"].west.
func stateProviders(src []byte, parser addrs.Parser) (_ []addrs.Provider, ok bool) {
	var state struct {
		Version   int `json:"version"`
		Resources []struct {
			Provider string `json:"provider"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(src, &state); err != nil || state.Version != 4 {
		return nil, false
	}
	var found []addrs.Provider
	for _, resource := range state.Resources {
		_, quoted, _ := strings.Cut(resource.Provider, `provider["`)
		address, _, closed := strings.Cut(quoted, `"]`)
		provider, err := parser.ParseProviderSource(address)
		if !closed || err != nil {
			return nil, false
		}
		if !provider.IsBuiltIn() && !slices.Contains(found, provider) {
			found = append(found, provider)
		}
	}
	return found, true
}
