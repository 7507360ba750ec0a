package detect

import (
	"context"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
)

// Sign is a sign in a project of the stock tool that it is for.
type Sign struct {
	Tool config.Dialect
	// What is for messages: "the hosts of the lock's providers".
	What string
	// InLock says that the sign is hosts in a lock.
	InLock bool
}

type Project struct {
	Location project.Location
	// LockSrc is the text of the lock, or nil if there is none.
	LockSrc []byte
	Lock    *lockfile.File
	// Recorded is modules.json, or empty.
	Recorded *project.Manifest
	// Tools are those that are installed on this machine.
	Tools []config.Dialect
	// Next is the tool that runs after this program, or zero.
	Next config.Dialect
}

const providerHosts = "the hosts of the lock's providers"

// Signs returns the signs of a project, of which the first one decides, in this order:
//
//  1. the hosts of the providers in the lock, and in .terraform.lock.hcl if that is another file
//  2. the hosts of the modules in the lock
//  3. files in the root module that only OpenTofu reads: *.tofu and *.tofu.json
//  4. the hosts in modules.json
//  5. the comment at the beginning of the lock: "tofu init" or "terraform init"
//  6. .opentofu-version, .terraform-version and .tool-versions, in the nearest directory that has any of
//     them, up to the root of the git repository
//  7. [Project].Tools, if it has exactly one tool and one of the user's own modules calls a registry
//     module, or requires a provider, without a host
//
// In 1, 2 and 4, OpenTofu's registry decides if both registries occur, and a module whose host the root
// module itself specifies is no sign. If there are signs, but the tool that runs next is another one, that is
// a further sign, which does not decide. So is the only installed tool, if the first sign decides.
func Signs(ctx context.Context, p Project) []Sign {
	d := &detector{Project: p, dir: p.Location.Dir, locks: [][]byte{p.LockSrc}}
	d.settings = configread.Reader{}.ReadSources(ctx, configread.Dir{Path: d.dir})
	if p.Location.LockFile != lockfile.Name {
		d.readStockLock()
	}
	d.addLocked(d.Lock.ProviderLabels(), providerHosts)
	d.addLocked(d.lockedSources(), "the hosts of the lock's modules")
	d.tofuFiles()
	d.add(toolOfHosts(d.recordedSources()), "the hosts in modules.json")
	d.lockHeader()
	d.versionFiles()
	if len(d.signs) == 0 {
		d.tools(ctx)
	} else {
		d.otherTool()
	}
	return d.signs
}

type Detection struct {
	Tool config.Dialect
	// Signs are all signs. The first one decides. Without any, the tool is a guess.
	Signs []Sign
	// IsOnlyTool says that the tool is the only installed one, and no sign. Packages may leave the host of
	// a registry to it.
	IsOnlyTool bool
}

// Detect returns the tool of the first sign, or else the only installed tool, or else config.DialectOpenTofu.
func Detect(ctx context.Context, p Project) Detection {
	found := Detection{Tool: config.DialectOpenTofu, Signs: Signs(ctx, p)}
	if len(found.Signs) > 0 {
		found.Tool = found.Signs[0].Tool
	} else if only := p.onlyTool(); only != 0 {
		found.Tool, found.IsOnlyTool = only, true
	}
	return found
}

func (d Detection) IsGuess() bool { return len(d.Signs) == 0 }

// Contradiction returns the first sign of the other tool, or "".
func (d Detection) Contradiction() string {
	for _, s := range d.Signs {
		if s.Tool != d.Tool {
			return s.What
		}
	}
	return ""
}

// ImpliesHost reports whether an address leaves the host of a registry to the stock tool.
func ImpliesHost(address string) bool {
	tofu, err := config.DialectOpenTofu.Parser().ParseModuleSource(address)
	if err != nil {
		return false
	}
	terraform, err := config.DialectTerraform.Parser().ParseModuleSource(address)
	return err == nil && tofu.String() != terraform.String()
}
