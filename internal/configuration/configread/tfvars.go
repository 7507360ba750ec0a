package configread

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/disk/atomicfile"
)

// variableFiles are the files with values for the root module's variables, read when a variable is first
// needed. The root module's lock protects them.
type variableFiles struct {
	listed bool
	names  []string
	parsed map[string]hcl.Attributes
}

// valuesFile is a file named by the user, or one of the project's own. Its name is relative to the root
// module.
type valuesFile struct {
	name  string
	named bool
}

// read reads any file that the user named, such as a pipe or /dev/null. A project's file must be regular,
// because others might never end, and a link may only point to what functions can read too: with a link
// to the credentials of a program, a repository could send them to a server.
func (f valuesFile) read(ctx context.Context, root *scope) ([]byte, error) {
	name := f.name
	if !filepath.IsAbs(name) {
		name = filepath.Join(root.dir.Path, name)
	}
	if f.named {
		return atomicfile.ReadUser(ctx, name, maxFileBytes)
	}
	d := openDirectory(root.dir)
	if info, err := os.Lstat(name); err != nil || info.Mode().Type() != fs.ModeSymlink {
		return d.read(f.name)
	}
	file, err := root.tree.openOwn(f.name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return d.readAll(file)
}

// own returns the files that stock tools read by default, highest precedence first.
func (f *variableFiles) own(dir Dir) ([]string, hcl.Diagnostics) {
	if f.listed {
		return f.names, nil
	}
	names, err := namesIn(dir)
	if err != nil {
		return nil, hcl.Diagnostics{unreadableDirectory(dir, err)}
	}
	for _, name := range []string{"terraform.tfvars", "terraform.tfvars.json"} {
		if slices.Contains(names, name) {
			f.names = append(f.names, name)
		}
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".auto.tfvars") || strings.HasSuffix(name, ".auto.tfvars.json") {
			f.names = append(f.names, name)
		}
	}
	slices.Reverse(f.names)
	f.listed = true
	return f.names, nil
}

// attributes reads each file once, because a pipe can be read only once.
func (f *variableFiles) attributes(ctx context.Context, root *scope, file valuesFile) (hcl.Attributes, hcl.Diagnostics) {
	name := file.name
	if attributes, ok := f.parsed[name]; ok {
		return attributes, nil
	}
	src, err := file.read(ctx, root)
	if err != nil {
		return nil, hcl.Diagnostics{unreadableFile(name, err)}
	}
	body, diags := parse(ctx, src, filepath.ToSlash(name), strings.HasSuffix(name, ".json"), hcl.InitialPos)
	var attributes hcl.Attributes
	if body != nil && !diags.HasErrors() {
		attributes, diags = body.JustAttributes()
	}
	if body == nil || diags.HasErrors() {
		if !file.named {
			root.tree.withoutText(Dir{Path: root.dir.Path, Display: "."}, diags)
		}
		return nil, limitSyntaxErrors(diags, name)
	}
	if f.parsed == nil {
		f.parsed = make(map[string]hcl.Attributes)
	}
	f.parsed[name] = attributes
	return attributes, nil
}
