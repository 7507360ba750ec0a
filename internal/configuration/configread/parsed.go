package configread

import (
	"context"
	"sync"
	"weak"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/installer/config"
)

// parsedDirs has what the files of directories declare: a directory may be called many times, with other
// values for its variables, and is parsed once.
type parsedDirs struct {
	mu   sync.Mutex
	dirs map[parsedKey]*parsedDir
}

type parsedKey struct {
	reader               Reader
	path, display, tests string
	inPackage            bool
}

type parsedDir struct {
	mu    sync.Mutex // held while the files are parsed
	files *files     // nil if they were not parsed yet
	// declared may be garbage collected: it is only for arguments that are not literals, and much larger.
	declared weak.Pointer[declared]
}

type files struct {
	blocks []*block
	tests  []*run
	diags  hcl.Diagnostics
	// constants reports whether a variable may have the argument const.
	constants bool

	providers     []config.ProviderRequirement
	providerDiags hcl.Diagnostics
}

func (p *parsedDirs) dir(r Reader, dir Dir) *parsedDir {
	key := parsedKey{r, dir.Path, dir.Display, dir.Tests, dir.inPackage()}
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

// files parses a directory again when it is needed again if ctx has ended.
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
