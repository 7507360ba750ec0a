package localstate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
)

// ErrLegacyProvider means that a state has a provider address from early versions of Terraform,
// without a namespace. Stock tools refuse it as well.
var ErrLegacyProvider = errors.New("legacy provider address in the state")

// Project says where the state of a project may be.
type Project struct {
	// Dir is the root module's directory, and DataDir the stock tools' data directory.
	Dir, DataDir string
	// Workspace is the selected workspace, or "" if it is not known.
	Workspace string
	Terraform bool
	// KeepAddresses leaves addresses of Terraform's registry as they are, also for tofu.
	KeepAddresses bool
	// Inputs are the values that the arguments of a backend can refer to.
	Inputs config.Inputs
	Parser addrs.Parser
}

// Needs describes which providers the state of a project needs.
type Needs struct {
	// Unknown is the reason why the needed providers are not known, or not all of them. It is "" if
	// there is no state yet.
	Unknown string
	// File is relative to the root module or absolute; "" if there is no state file.
	File string
	// Providers are the providers of the state's resources as the state names them, without
	// duplicates and built-in providers. [Needs.In] returns those to install.
	Providers []addrs.Provider

	// replaces reports whether OpenTofu's registry replaces Terraform's.
	replaces bool
}

// In returns the needed providers in a configuration, without duplicates. In the tofu dialect,
// OpenTofu's registry replaces Terraform's in the address of each provider that the configuration
// does not require. This is what OpenTofu does with states that Terraform has written.
func (n Needs) In(requires func(addrs.Provider) bool) []addrs.Provider {
	var all []addrs.Provider
	for _, p := range n.Providers {
		if n.replaces && p.Hostname == addrs.TerraformRegistryHost && !requires(p) {
			p.Hostname = addrs.DefaultRegistryHost
		}
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// Read reads which providers the state needs. Its error wraps [ErrLegacyProvider].
func Read(ctx context.Context, p Project) (Needs, error) {
	at := p.locate(ctx)
	if at.file == "" {
		return Needs{Unknown: at.unknown}, nil
	}
	needs, err := p.read(at.file)
	if err != nil || at.former == "" || needs.Unknown != "" {
		return needs, err
	}
	// A problem with the former state matters only once it is copied.
	former, err := p.read(at.former)
	isOther := func(address addrs.Provider) bool { return !slices.Contains(needs.Providers, address) }
	if err != nil || former.Unknown != "" || slices.ContainsFunc(former.Providers, isOther) {
		needs.Unknown = fmt.Sprintf("there is also an earlier state in %s", at.former)
	}
	return needs, nil
}

func (p Project) read(name string) (Needs, error) {
	needs := Needs{replaces: !p.Terraform && !p.KeepAddresses}
	file, outside, err := p.open(name)
	if err == nil {
		defer file.Close()
		needs.Providers, err = parse(io.LimitReader(file, maxSize), p.Parser)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errEmpty):
		return Needs{}, nil
	case errors.Is(err, ErrLegacyProvider) && outside:
		return Needs{}, fmt.Errorf("%s: %w", name, ErrLegacyProvider)
	case errors.Is(err, ErrLegacyProvider):
		return Needs{}, fmt.Errorf("%s: %w", name, err)
	case errors.Is(err, errUnknown):
		return Needs{Unknown: fmt.Sprintf("%s is encrypted or of another version", name)}, nil
	case err != nil:
		return Needs{Unknown: fmt.Sprintf("%s cannot be read%s", name, reason(err))}, nil
	}
	needs.File = name
	return needs, nil
}
