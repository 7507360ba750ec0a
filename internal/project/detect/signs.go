package detect

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/configread"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
)

type detector struct {
	Project
	dir      string
	locks    [][]byte // the text of the lock, and of the stock tools' lock if it is another file
	settings configread.Settings
	signs    []Sign
}

func (d *detector) add(tool config.Dialect, what string) {
	if tool != 0 {
		d.signs = append(d.signs, Sign{Tool: tool, What: what})
	}
}

func (d *detector) addLocked(addresses []string, what string) {
	if tool := toolOfHosts(addresses); tool != 0 {
		d.signs = append(d.signs, Sign{Tool: tool, What: what, InLock: true})
	}
}

// readStockLock reads the stock tools' lock, which has the providers if the module entries are elsewhere.
func (d *detector) readStockLock() {
	location := d.Location
	location.LockFile = lockfile.Name
	src, err := project.ReadLock(location)
	if err != nil || src == nil {
		return
	}
	if lock, err := lockfile.Parse(src, lockfile.Name); err == nil {
		d.addLocked(lock.ProviderLabels(), providerHosts)
		d.locks = append(d.locks, src)
	}
}

// lockedSources and recordedSources leave out modules whose hosts the root module itself specifies.
func (d *detector) lockedSources() []string {
	var sources []string
	for _, m := range d.Lock.Modules() {
		if !d.writesHost(m.Key) {
			sources = append(sources, cmp.Or(m.Replaces, m.Source).String())
		}
	}
	return sources
}

func (d *detector) recordedSources() []string {
	var sources []string
	for _, record := range d.Recorded.Records() {
		if !d.writesHost(record.Key) {
			sources = append(sources, record.Source)
		}
	}
	return sources
}

func (d *detector) writesHost(key string) bool {
	source, ok := d.settings.Sources[key]
	return ok && !ImpliesHost(source)
}

func (d *detector) tofuFiles() {
	files, err := fs.Glob(os.DirFS(d.dir), "*.tofu*")
	if err != nil {
		return
	}
	for _, file := range files {
		if path.Ext(file) == ".tofu" || strings.HasSuffix(file, ".tofu.json") {
			d.add(config.DialectOpenTofu, fmt.Sprintf("the file %q", file))
			return
		}
	}
}

// lockHeader ignores a comment that names both tools: Cotter writes it if the tool was not known.
func (d *detector) lockHeader() {
	for _, src := range d.locks {
		var header []byte
		for line := range bytes.Lines(src) {
			if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
				break
			}
			header = append(header, line...)
		}
		tofu, terraform := bytes.Contains(header, []byte(`"tofu init"`)), bytes.Contains(header, []byte(`"terraform init"`))
		switch {
		case tofu && !terraform:
			d.add(config.DialectOpenTofu, `"tofu init" in the lock's comment`)
		case terraform && !tofu:
			d.add(config.DialectTerraform, `"terraform init" in the lock's comment`)
		}
	}
}

// maxVersionFile is in bytes. These files have a few lines.
const maxVersionFile = 64 << 10

// versionFiles checks the files by which version managers choose a tool.
func (d *detector) versionFiles() {
	dir, err := filepath.Abs(d.dir)
	if err != nil {
		return
	}
	for _, dir := range project.RepositoryDirs(dir) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return
		}
		before := len(d.signs)
		d.versionFilesIn(root)
		_ = root.Close() // nothing was written
		if len(d.signs) > before {
			return
		}
	}
}

func (d *detector) versionFilesIn(root *os.Root) {
	read := func(name string) string {
		text, err := atomicfile.Read(root, name, maxVersionFile)
		if err != nil {
			return "" // it does not exist, or no version manager could read it
		}
		return string(text)
	}
	if strings.TrimSpace(read(".opentofu-version")) != "" {
		d.add(config.DialectOpenTofu, ".opentofu-version")
	}
	if strings.TrimSpace(read(".terraform-version")) != "" {
		d.add(config.DialectTerraform, ".terraform-version")
	}
	var tools []string
	for line := range strings.Lines(read(".tool-versions")) {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) > 1 {
			tools = append(tools, words[0])
		}
	}
	if slices.Contains(tools, "opentofu") || slices.Contains(tools, "tofu") {
		d.add(config.DialectOpenTofu, "opentofu in .tool-versions")
	}
	if slices.Contains(tools, "terraform") {
		d.add(config.DialectTerraform, "terraform in .tool-versions")
	}
}

// otherTool adds a sign of the tool that runs, if it is not that of the first sign. An installed tool counts
// only against the hosts of the lock's providers: people who change tools have such a lock.
func (d *detector) otherTool() {
	first, only := d.signs[0], d.onlyTool()
	switch {
	case d.Next == first.Tool:
	case d.Next != 0:
		d.add(d.Next, "the tool that runs next")
	case first.What == providerHosts && only != first.Tool:
		d.add(only, "the only installed tool")
	}
}

func (p Project) onlyTool() config.Dialect {
	found := slices.Compact(slices.Sorted(slices.Values(p.Tools)))
	if len(found) != 1 {
		return 0
	}
	return found[0]
}

const maxOwnModules = 1000

// tools checks which stock tool is installed. That is a property of the machine, so it counts only if one of
// the user's own modules leaves the host of a registry to the tool.
func (d *detector) tools(ctx context.Context) {
	only := d.onlyTool()
	if only == 0 {
		return
	}
	dirs := []string{d.dir}
	seen := map[string]bool{}
	for len(dirs) > 0 && len(seen) < maxOwnModules && ctx.Err() == nil {
		dir := dirs[0]
		dirs = dirs[1:]
		if seen[dir] {
			continue
		}
		seen[dir] = true
		settings := d.settings
		if dir != d.dir {
			settings = configread.Reader{}.ReadSources(ctx, configread.Dir{Path: dir})
		}
		if d.leavesHost(ctx, dir, settings) {
			d.add(only, fmt.Sprintf("only %s is installed", only))
			return
		}
		for _, source := range settings.Sources {
			if parsed, err := addrs.ParseModuleSource(source); err == nil {
				if local, ok := parsed.(addrs.ModuleSourceLocal); ok {
					dirs = append(dirs, filepath.Join(dir, filepath.FromSlash(string(local))))
				}
			}
		}
	}
}

func (d *detector) leavesHost(ctx context.Context, dir string, settings configread.Settings) bool {
	for _, source := range settings.Sources {
		if ImpliesHost(source) {
			return true
		}
	}
	return configread.Reader{}.RequiresHostless(ctx, configread.Dir{Path: dir})
}

// toolOfHosts returns OpenTofu if both registries are among the hosts: a configuration for tofu may well have
// the full name of Terraform's registry, but the reverse is rare.
func toolOfHosts(addresses []string) config.Dialect {
	var found config.Dialect
	for _, address := range addresses {
		host, _, _ := strings.Cut(address, "/")
		switch addrs.Hostname(host) {
		case addrs.DefaultRegistryHost:
			return config.DialectOpenTofu
		case addrs.TerraformRegistryHost:
			found = config.DialectTerraform
		}
	}
	return found
}
