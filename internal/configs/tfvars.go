package configs

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// variableFiles are the files with values for the root module's variables. They
// are read when the first of those is needed. The root module's lock guards
// them.
type variableFiles struct {
	listed bool
	names  []string
	parsed map[string]hcl.Attributes
}

// own are the names of the files that count without being asked for, the
// strongest first.
func (f *variableFiles) own(dir Dir) ([]string, hcl.Diagnostics) {
	if f.listed {
		return f.names, nil
	}
	d, err := openDirectory(dir)
	if err != nil {
		return nil, hcl.Diagnostics{unreadableDirectory(dir, err)}
	}
	defer d.close()
	names, err := d.names()
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

// attributes are the values in a file, whose name is relative to the root
// module's directory.
func (f *variableFiles) attributes(dir Dir, name string) (hcl.Attributes, hcl.Diagnostics) {
	if attributes, ok := f.parsed[name]; ok {
		return attributes, nil
	}
	at := filepath.Join(dir.Path, name)
	if filepath.IsAbs(name) {
		at = name
	}
	d := &directory{dir: Dir{Path: filepath.Dir(at)}, left: maxDirBytes}
	src, err := d.read(filepath.Base(at))
	if err != nil {
		return nil, hcl.Diagnostics{unreadableFile(name, err)}
	}
	body, diags := parse(src, filepath.ToSlash(name), strings.HasSuffix(name, ".json"))
	if body == nil || diags.HasErrors() {
		return nil, limitSyntaxErrors(diags, name)
	}
	attributes, diags := body.JustAttributes()
	if diags.HasErrors() {
		return nil, limitSyntaxErrors(diags, name)
	}
	if f.parsed == nil {
		f.parsed = make(map[string]hcl.Attributes)
	}
	f.parsed[name] = attributes
	return attributes, nil
}
