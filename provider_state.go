package cotter

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
	// maxState bounds a state file in bytes. Those of large projects have some 100 MB.
	maxState = 1 << 30
	// stateName is the name of state files, and of the file in the data directory in
	// which stock tools record the backend.
	stateName = "terraform.tfstate"
)

// unrequired are providers that no module requires and that may be needed all the same.
type unrequired struct {
	// inState are those that the state needs, as stock tools install them too.
	inState []requiredProvider
	// kept are those of the lock that stay, because another state may need them: why
	// says what is known of it. gone are those to be dropped from the lock.
	kept []requiredProvider
	gone []addrs.Provider
	why  string
}

// unrequired finds the providers of a project beside those that its modules require.
// The error is about an address in the state that stock tools refuse as well.
func (p *openProject) unrequired(ctx context.Context, lock *providerLock, required []requiredProvider, prune bool) (unrequired, error) {
	state, err := p.readState(ctx)
	if err != nil {
		return unrequired{}, err
	}
	found := unrequired{why: state.unknown}
	needed := make(map[addrs.Provider]bool)
	for _, r := range required {
		needed[r.address] = true
	}
	for _, address := range state.providers {
		if !needed[address] {
			needed[address] = true
			use := ProviderUse{ProviderRequirement: ProviderRequirement{Provider: address, Implied: true, By: "state " + state.file}}
			found.inState = append(found.inState, requiredProvider{address: address, uses: []ProviderUse{use}})
		}
	}
	for _, entry := range lock.Providers() {
		switch {
		case needed[entry.Address]:
		case prune || state.unknown == "":
			found.gone = append(found.gone, entry.Address)
		default:
			found.kept = append(found.kept, requiredProvider{address: entry.Address})
		}
	}
	return found, nil
}

// withUnrequired adds to the required providers those that the state needs and those
// that stay in the lock, and returns the addresses of those to be dropped from it.
func (s *providerStage) withUnrequired(ctx context.Context, required []requiredProvider) (all []requiredProvider, gone []addrs.Provider, err error) {
	others, err := s.unrequired(ctx, s.lock, required, s.req.Providers.Prune)
	if err != nil {
		return nil, nil, err
	}
	if len(others.kept) > 0 {
		names := displayed(others.kept, func(p requiredProvider) string { return p.address.ForDisplay() })
		s.events.warn(nil, fmt.Sprintf("the lock has providers that no module requires; they stay, because the state may need them, and %s: %s", others.why, names))
	}
	return sortedProviders(required, others.inState, others.kept), others.gone, nil
}

// sortedProviders returns the providers of all lists in the order of the lock.
func sortedProviders(lists ...[]requiredProvider) []requiredProvider {
	return slices.SortedFunc(slices.Values(slices.Concat(lists...)), func(a, b requiredProvider) int { return a.address.Compare(b.address) })
}

// projectState is what the state of a project says about providers.
type projectState struct {
	// unknown is why it is not known which providers the state needs; "" if it is, or if
	// there is no state yet.
	unknown string
	// file is the state's name, relative to the root module; "" if there is none.
	file      string
	providers []addrs.Provider
}

// readState reads which providers the state in the project needs. A backend's state is
// not read, which takes credentials.
func (p *openProject) readState(ctx context.Context) (projectState, error) {
	if p.hasBackend(ctx) {
		return projectState{unknown: "a backend keeps it"}, nil
	}
	workspace, err := p.req.workspace()
	if err != nil || url.PathEscape(workspace) != workspace || strings.Trim(workspace, ".") == "" { // not a workspace's name
		return projectState{unknown: "the selected workspace is not known"}, nil
	}
	name := stateName
	if workspace != "default" {
		name = "terraform.tfstate.d/" + workspace + "/" + stateName
	}
	src, err := readBelow(p.req.dir(), name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(src)) == 0 {
		return projectState{}, nil
	}
	if err != nil {
		return projectState{unknown: fmt.Sprintf("%s cannot be read", name)}, nil
	}
	providers, err := stateProviders(src, p.dialect.parser())
	if errors.Is(err, ErrLegacyProvider) {
		return projectState{}, fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		return projectState{unknown: fmt.Sprintf("%s is encrypted or of another version", name)}, nil
	}
	return projectState{file: name, providers: providers}, nil
}

// hasBackend reports whether the configuration has a backend, or the project had one
// from which stock tools have not moved the state yet.
func (p *openProject) hasBackend(ctx context.Context) bool {
	reader := configs.Reader{Terraform: p.dialect == DialectTerraform}
	if reader.ReadSettings(ctx, configs.Dir{Path: p.req.dir()}).Backend {
		return true
	}
	src, err := readBelow(p.req.dataPath(), stateName)
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
	return atomicfile.Read(opened, filepath.Base(name), maxState)
}

// errUnknownState says that a state is of a form that is not known.
var errUnknownState = errors.New("the state is not one of version 4")

// stateProviders returns the providers of the resources in a state of version 4, whose
// form is described by the stock tools' state documentation: each resource has an
// address such as provider["registry.opentofu.org/hashicorp/null"].west. The error is
// over [ErrLegacyProvider], or errUnknownState.
func stateProviders(src []byte, parser addrs.Parser) ([]addrs.Provider, error) {
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
		return nil, errUnknownState
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
			return nil, errUnknownState
		case !parser.IsBuiltIn(provider) && !slices.Contains(found, provider):
			found = append(found, provider)
		}
	}
	return found, nil
}
