package localstate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/internal/configs"
)

const (
	// fileName is the name of state files, and also of the file in the data directory in which
	// stock tools record the backend.
	fileName = "terraform.tfstate"
	// workspaces is the directory of the states of other workspaces than the default one.
	workspaces = "terraform.tfstate.d"
	// maxRecord is the maximum size of the record of the backend in bytes.
	maxRecord = 4 << 20
)

type location struct {
	// file is the state file, or "" if it is unknown.
	file    string
	unknown string
	// former is another file that stock tools may copy to file first, or "".
	former string
}

func (p Project) locate(ctx context.Context) location {
	reader := configs.Reader{Terraform: p.Terraform}
	configured, err := reader.ReadBackend(ctx, configs.Dir{Path: p.Dir, Display: ".", Tree: configs.NewTree(p.Inputs)})
	if err != nil {
		return location{unknown: err.Error()}
	}
	recorded, err := p.recorded()
	switch {
	case err != nil:
		return location{unknown: "the record of the backend in " + fileName + " of the data directory cannot be read"}
	case !isLocal(configured.Type) || recorded != nil && !isLocal(recorded.Type):
		return location{unknown: "a backend keeps it"}
	case url.PathEscape(p.Workspace) != p.Workspace || strings.Trim(p.Workspace, ".") == "": // not a workspace's name
		return location{unknown: "the selected workspace is not known"}
	}
	file := p.stateOf(configured.Local)
	switch {
	case recorded != nil && p.stateOf(recorded.Local) == file:
		return location{file: file}
	case recorded != nil && configured.Type != "" && recorded.hash == configured.Local.Hash():
		return location{file: p.stateOf(recorded.Local)}
	case recorded != nil:
		return location{unknown: "the backend has changed since the last init of a stock tool"}
	}
	found := location{file: file}
	if standard := p.stateOf(configs.LocalBackend{}); standard != file {
		found.former = standard
	}
	return found
}

func isLocal(backend string) bool { return backend == "" || backend == "local" }

func (p Project) stateOf(b configs.LocalBackend) string {
	if p.Workspace == "default" {
		return cmp.Or(b.Path, fileName)
	}
	return path.Join(filepath.ToSlash(cmp.Or(b.WorkspaceDir, workspaces)), p.Workspace, fileName)
}

type record struct {
	configs.Backend
	hash uint64
}

func (p Project) recorded() (*record, error) {
	file, err := openRegular(p.DataDir, fileName, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var found struct {
		Backend *struct {
			Type   string          `json:"type"`
			Config json.RawMessage `json:"config"`
			Hash   uint64          `json:"hash"`
		} `json:"backend"`
	}
	if err := json.NewDecoder(file).Decode(&found); err != nil || found.Backend == nil {
		return nil, err
	}
	backend := &record{Backend: configs.Backend{Type: cmp.Or(found.Backend.Type, "unknown")}, hash: found.Backend.Hash}
	if backend.Type != "local" {
		return backend, nil
	}
	var arguments struct {
		Path         string `json:"path"`
		WorkspaceDir string `json:"workspace_dir"`
	}
	err = json.Unmarshal(found.Backend.Config, &arguments)
	backend.Local = configs.LocalBackend(arguments)
	return backend, err
}
