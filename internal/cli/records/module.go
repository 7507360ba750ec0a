package records

import (
	"strings"
	"time"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/cli/lists"
)

// Module is a module in the output of tree and install.
type Module struct {
	Key    string `json:"key"`
	Source string `json:"source"`
	// Replaces is the source in the configuration, if cotter.hcl replaces it by Source.
	Replaces string `json:"replaces,omitempty"`
	Version  string `json:"version,omitempty"`
	// Constraint is the version constraint of the call, if it has one.
	Constraint string         `json:"constraint,omitempty"`
	Package    string         `json:"package,omitempty"`
	Hashes     []hashing.Hash `json:"hashes,omitempty"`
	Dir        string         `json:"dir,omitempty"`
	Place
	// NotInstalled is the reason why the module is not in place, in the output of tree. The version
	// and the package are then those in the lock.
	NotInstalled string `json:"not_installed,omitempty"`
	// Evidence is who confirms the package. It is absent for local modules and if nothing confirms it,
	// and is only in the results of installations and of tree --evidence.
	Evidence evidence.Evidence `json:"evidence,omitzero"`

	Shown     string `json:"-"` // Source as shown in text
	Confirmed string `json:"-"` // Evidence as shown in text
}

// IsNamed reports whether a name is a module's key, its source address, or its package's address.
func (m Module) IsNamed(name string) bool {
	for _, source := range []string{m.Source, m.Shown, m.Replaces} {
		pkg, _ := addrs.SplitSubdir(source)
		pkg, _, _ = strings.Cut(pkg, "?")
		if source == name || pkg == name {
			return true
		}
	}
	return m.Key == name
}

// Modules returns the records of modules, with their evidence if that is wanted.
func Modules(modules []installer.Module, withEvidence bool) []Module {
	return lists.Map(modules, func(m installer.Module) Module {
		j := Module{
			Key:        m.Path.String(),
			Source:     addrs.Redact(m.Source.String()),
			Version:    m.Version.String(),
			Constraint: ConstraintOf(m.Call),
			Package:    m.Package.String(),
			Hashes:     m.Hashes,
			Dir:        m.Dir,
			Place:      PlaceOf(m.Call.Range),
			Shown:      addrs.Redact(m.Source.ForDisplay()),
		}
		if m.Replaces != nil {
			j.Replaces = m.Replaces.String()
		}
		if withEvidence && HasPackage(m) {
			j.Evidence, j.Confirmed = m.Evidence, ConfirmedText(m.Evidence)
		}
		return j
	})
}

// ConstraintOf returns the version constraint of a call, or "".
func ConstraintOf(call config.Call) string {
	if call.Version == nil {
		return ""
	}
	return *call.Version
}

// HasPackage returns false for a module in its caller's package, or in the project.
func HasPackage(m installer.Module) bool {
	_, local := m.Source.(addrs.ModuleSourceLocal)
	return !local
}

// ConfirmedText says who confirms a package, and since when.
func ConfirmedText(e evidence.Evidence) string {
	text := e.String()
	switch e.Kind {
	case evidence.None, evidence.Project:
		return text
	case evidence.User:
	default:
		text = "confirmed by " + text
	}
	if !e.Since.IsZero() {
		text += " on " + e.Since.Local().Format(time.DateOnly)
	}
	return text
}
