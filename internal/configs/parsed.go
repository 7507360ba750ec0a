package configs

import (
	"context"
	"sync"
	"weak"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/hashicorp/hcl/v2"
)

// parsedDirs has what the files of directories declare. A tree may call a directory many times, each
// time with other values for its variables. Its files are parsed once for all of these calls.
type parsedDirs struct {
	mu   sync.Mutex
	dirs map[parsedKey]*parsedDir
}

type parsedKey struct {
	reader                         Reader
	path, boundary, display, tests string
}

type parsedDir struct {
	// mu is held while the files are parsed.
	mu    sync.Mutex
	files *files // nil if they were not parsed yet
	// declared may be garbage collected. It is needed only for arguments that are not literals, and
	// is much larger than files.
	declared weak.Pointer[declared]
}

type files struct {
	blocks []*block
	tests  []config.Call
	diags  hcl.Diagnostics
	// constants reports whether a variable may have the argument const.
	constants bool

	providers     []config.ProviderRequirement
	providerDiags hcl.Diagnostics
}

func (p *parsedDirs) dir(r Reader, dir Dir) *parsedDir {
	key := parsedKey{r, dir.Path, dir.Boundary, dir.Display, dir.Tests}
	p.mu.Lock()
	defer p.mu.Unlock()
	found := p.dirs[key]
	if found == nil {
		if p.dirs == nil {
			p.dirs = make(map[parsedKey]*parsedDir)
		}
		found = &parsedDir{}
		p.dirs[key] = found
	}
	return found
}

// files returns the parsed files of a directory. If ctx ends, they are parsed again when they are
// needed again.
func (p *parsedDirs) files(ctx context.Context, r Reader, dir Dir) *files {
	at := p.dir(r, dir)
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.files != nil {
		return at.files
	}
	found := r.files(ctx, dir)
	if ctx.Err() == nil {
		at.files = found
	}
	return found
}

func (r Reader) files(ctx context.Context, dir Dir) *files {
	var requirements *requirements
	if r.Providers {
		requirements = r.newRequirements()
	}
	found := &files{}
	found.blocks, found.constants, found.diags = r.readBlocks(ctx, dir, requirements)
	if dir.Tests != "" {
		var diags hcl.Diagnostics
		found.tests, diags = r.testCalls(ctx, dir, requirements)
		found.diags = append(found.diags, diags...)
	}
	if requirements != nil {
		found.providers, found.providerDiags = requirements.resolve()
	}
	return found
}

func (p *parsedDirs) declared(ctx context.Context, r Reader, dir Dir) *declared {
	r.Providers, dir.Tests = false, "" // they make no difference
	at := p.dir(r, dir)
	at.mu.Lock()
	defer at.mu.Unlock()
	if found := at.declared.Value(); found != nil {
		return found
	}
	found := r.declared(ctx, dir)
	if ctx.Err() == nil {
		at.declared = weak.Make(found)
	}
	return found
}
