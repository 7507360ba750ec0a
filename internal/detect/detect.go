package detect

import (
	"context"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/configs"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
)

// Tool is a stock tool.
type Tool int

// The stock tools. The zero value stands for neither.
const (
	OpenTofu Tool = iota + 1
	Terraform
)

// RegistryHost returns the host that the tool uses for an address without a host.
func (t Tool) RegistryHost() addrs.Hostname {
	if t == Terraform {
		return addrs.TerraformRegistryHost
	}
	return addrs.DefaultRegistryHost
}

// Parser returns a parser for source addresses with the tool's default host.
func (t Tool) Parser() addrs.Parser { return addrs.Parser{DefaultRegistryHost: t.RegistryHost()} }

// name returns the name of the tool's command.
func (t Tool) name() string {
	if t == Terraform {
		return "terraform"
	}
	return "tofu"
}

// Sign is a sign in a project of the stock tool that it is for.
type Sign struct {
	Tool Tool
	// What describes the sign in messages, such as "the hosts of the lock's providers".
	What string
	// InLock says that the sign is the hosts in a lock.
	InLock bool
}

// Project is the known information about a project.
type Project struct {
	// Location says where the project's files are.
	Location project.Location
	// LockSrc is the text of the lock, or nil if there is none, and Lock is the parsed lock.
	LockSrc []byte
	Lock    *lockfile.File
	// Recorded is modules.json. It is empty if there is no such file.
	Recorded *project.Manifest
	// Tools are the stock tools that are installed on this machine.
	Tools []Tool
	// Next is the tool that runs after this program, or zero if that is not known.
	Next Tool
}

// stockLock is the name of the stock tools' lock.
const stockLock = ".terraform.lock.hcl"

// providerHosts describes the first sign in the package documentation.
const providerHosts = "the hosts of the lock's providers"

// Signs returns the signs of a project in the order that the package documentation lists: the
// first one decides.
func Signs(ctx context.Context, p Project) []Sign {
	d := &detector{Project: p, dir: p.Location.Dir, locks: [][]byte{p.LockSrc}}
	d.settings = configs.Reader{}.ReadSettings(ctx, configs.Dir{Path: d.dir})
	if p.Location.LockFile != stockLock {
		d.readStockLock()
	}
	d.addLocked(d.Lock.ProviderLabels(), providerHosts)
	d.addLocked(d.lockedSources(), "the hosts of the lock's modules")
	d.tofuFiles()
	d.add(toolOfHosts(d.recordedSources()), "the hosts in modules.json")
	d.lockHeader()
	d.versionFiles()
	d.configuration()
	if len(d.signs) == 0 {
		d.tools(ctx)
	} else {
		d.otherTool()
	}
	return d.signs
}

// Detection is the tool that a project is for, with the signs of it.
type Detection struct {
	Tool Tool
	// Signs are all signs that were found. The first one decides. If there are none, the tool is a
	// guess.
	Signs []Sign
	// IsOnlyTool says that the tool is a guess, because it is the only one that is installed.
	// Packages of the project may leave the host of a registry to it.
	IsOnlyTool bool
}

// Detect returns the tool that a project is for. If there are no signs, it is the only installed
// tool, or else OpenTofu.
func Detect(ctx context.Context, p Project) Detection {
	found := Detection{Tool: OpenTofu, Signs: Signs(ctx, p)}
	if len(found.Signs) > 0 {
		found.Tool = found.Signs[0].Tool
	} else if only := p.onlyTool(); only != 0 {
		found.Tool, found.IsOnlyTool = only, true
	}
	return found
}

// IsGuess reports whether the project has no sign of either tool.
func (d Detection) IsGuess() bool { return len(d.Signs) == 0 }

// Contradiction returns the first sign of the other tool, or an empty string if
// all signs agree.
func (d Detection) Contradiction() string {
	for _, s := range d.Signs {
		if s.Tool != d.Tool {
			return s.What
		}
	}
	return ""
}

// ImpliesHost reports whether an address is a registry address without a host, so that the stock
// tool decides the host.
func ImpliesHost(address string) bool {
	tofu, err := OpenTofu.Parser().ParseModuleSource(address)
	if err != nil {
		return false
	}
	terraform, err := Terraform.Parser().ParseModuleSource(address)
	return err == nil && tofu.String() != terraform.String()
}
