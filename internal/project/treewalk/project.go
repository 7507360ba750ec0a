package treewalk

import (
	"context"

	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/project/detect"
	"github.com/cotterpin/cotter/internal/project/policyfile"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
)

// Project is what a walk needs to know of a project besides its configuration.
type Project struct {
	Dirs *project.Dirs
	// LockSrc is the text of the lock; nil if there is no lock file. Lock is parsed, possibly from another text:
	// conflicts may have been merged.
	LockSrc []byte
	Lock    *lockfile.File
	// Recorded is modules.json. It is empty, for the reason RecordedErr, if it does not exist or cannot be read,
	// because runs use it only as a hint and write it again.
	Recorded    *project.Manifest
	RecordedErr error
	// Replacements are those of cotter.hcl; nil if there are none.
	Replacements *policy.Replacements
	// Dialect is that of the project. Detected is how it was found out; zero if the caller named it.
	Dialect  config.Dialect
	Detected detect.Detection
	// MarkOf, which may be nil, returns the Mark of a call.
	MarkOf func(*Call) string
}

// Read reads modules.json and the replacements of a project whose lock was read, and detects the dialect
// unless it is set. files is nil without a modules directory.
func (p *Project) Read(ctx context.Context, files *project.Project, hints detect.Project) (err error) {
	p.Recorded = &project.Manifest{}
	if p.Replacements, err = policyfile.ReadReplacements(p.Dirs.Root); err != nil {
		return err
	}
	if files != nil {
		p.readManifest(files)
	}
	if p.Dialect == 0 {
		hints.LockSrc, hints.Lock, hints.Recorded = p.LockSrc, p.Lock, p.Recorded
		p.Detected = detect.Detect(ctx, hints)
		p.Dialect = p.Detected.Tool
	}
	return nil
}

func (p *Project) readManifest(files *project.Project) {
	src, err := files.Manifest()
	if err == nil {
		var recorded *project.Manifest
		if recorded, err = project.ParseManifest(src); err == nil {
			p.Dirs.Respell(recorded)
			p.Recorded = recorded
		}
	}
	p.RecordedErr = err
}

// RootModule returns the root module as the configuration has it.
func (p *Project) RootModule() *Module { return &Module{CurrentPath: p.Dirs.Root, FinalPath: "."} }

// ReadsAsTerraform reports whether configuration is read as Terraform does, which refuses expressions that OpenTofu
// accepts. A guess refuses nothing.
func (p *Project) ReadsAsTerraform() bool {
	return p.Dialect == config.DialectTerraform && !p.Detected.IsOnlyTool
}

// IsWithoutConfiguration reports whether the root module has no files that can have calls. What an embedding program has
// installed from configuration of its own is known only from the lock. tests is the directory of tests.
func (p *Project) IsWithoutConfiguration(tests string) bool {
	reader := configread.Reader{Terraform: p.ReadsAsTerraform()}
	empty, err := reader.Empty(configread.Dir{Path: p.Dirs.Root, Tests: tests})
	return empty && err == nil
}

// ParseCall parses a call in a module of the project, or one of which only the entry is known.
func (p *Project) ParseCall(caller *Module, found config.Call) (*Call, error) {
	c, err := ParseCall(caller, found, p.Dialect, p.Replacements)
	if p.MarkOf != nil {
		c.Mark = p.MarkOf(c)
	}
	return c, err
}

// NewPackage returns the package of an entry in its place.
func (p *Project) NewPackage(entry lockfile.Module) Package {
	return Package{
		Key:       entry.Key,
		Entry:     entry,
		Files:     p.Dirs.Files(entry.Key),
		FinalPath: p.Dirs.PackageDir(entry.Key),
		RealPath:  p.Dirs.RealPackageDir(entry.Key),
		Local:     entry.Package.Package.Getter() == "file",
	}
}
