package treewalk

import (
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/versions"
)

// Description is what programs see of a module. Packages installer and moduletree have the meaning of the fields.
type Description struct {
	Path     addrs.Module
	Call     config.Call
	Source   addrs.ModuleSource
	Replaces addrs.ModuleSource
	Version  versions.Version
	Package  addrs.ModuleSourceRemote
	Hashes   []hashing.Hash
	Dir      string
	// Installed is the version by modules.json of what is in Dir. Only DescribeRecorded sets it.
	Installed versions.Version
}

// Describe describes a module with the data of its package, without credentials unless keepCredentials is set.
func (m *Module) Describe(keepCredentials bool) Description {
	d := Description{Path: m.Path(), Dir: m.FinalPath}
	d.Call, d.Source = m.Call.Shown(keepCredentials)
	d.Replaces = m.Call.Replaces()
	if m.OwnsPackage() {
		d.Version, d.Package, d.Hashes = m.Package.Entry.Version, m.Package.Entry.Package, m.Package.Entry.Hashes
	}
	return d
}

// DescribeRecorded describes a module of [Walker.Installed]. If the lock has no entry for it, the version is that in
// modules.json. A module that is known only from the lock has no directory.
func (p *Project) DescribeRecorded(m *Module, keepCredentials bool) Description {
	d := m.Describe(keepCredentials)
	if m.IsLocked() {
		d.Dir = ""
	}
	if !m.OwnsPackage() {
		return d
	}
	if record, ok := p.Recorded.Lookup(m.Key()); ok && !record.IsReplaced() {
		d.Version, _ = versions.Parse(record.Version)
		if d.Dir != "" {
			d.Installed = d.Version
		}
	}
	if entry, ok := p.entryOf(m.Call); ok {
		d.Version, d.Package, d.Hashes = entry.Version, entry.Package, entry.Hashes
	}
	return d
}
