package hashing

import (
	"io/fs"
	"path"
)

// directory is where names are looked up: a directory that is open, or one of
// those of a file system that cannot keep them open.
type directory struct {
	fsys  fs.FS
	path  string // in fsys
	owned bool   // whether fsys was opened for it
}

func top(fsys fs.FS) directory { return directory{fsys: fsys, path: "."} }

// open opens a directory in d, which may be d itself.
func (d directory) open(name string) (directory, error) {
	r, ok := d.fsys.(rootFS)
	if !ok || name == "." {
		return directory{fsys: d.fsys, path: path.Join(d.path, name)}, nil
	}
	opened, err := r.open(name)
	return directory{fsys: opened, path: ".", owned: err == nil}, err
}

func (d directory) close() {
	if d.owned {
		_ = d.fsys.(rootFS).root.Close()
	}
}

func (d directory) list() ([]fs.DirEntry, error) { return fs.ReadDir(d.fsys, d.path) }

func (d directory) file(name string) (fs.File, error) { return d.fsys.Open(path.Join(d.path, name)) }

// target is where a link leads, which the entry may know by itself.
func (d directory) target(link fs.DirEntry) (string, error) {
	if known, ok := link.(linkEntry); ok {
		return known.target, nil
	}
	return fs.ReadLink(d.fsys, path.Join(d.path, link.Name()))
}

// opener opens files. Those that come one behind the other share their
// directory.
type opener struct {
	top  directory
	last directory
	path string // of last
}

func newOpener(fsys fs.FS) *opener {
	return &opener{top: top(fsys), last: top(fsys), path: "."}
}

func (o *opener) open(name string) (fs.File, error) {
	if dir := path.Dir(name); dir != o.path {
		next, err := o.top.open(dir)
		if err != nil {
			return nil, err
		}
		o.close()
		o.last, o.path = next, dir
	}
	return o.last.file(path.Base(name))
}

func (o *opener) close() { o.last.close() }
