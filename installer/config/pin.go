package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// Pin is a call in one of the project's own modules with a version tag in its source address, such as
// "?ref=v1.2.0" or "?tag=1.2.0", or with a version constraint. installer.Installer.Pins finds them, and package edit
// replaces the values.
type Pin struct {
	Path     addrs.Module
	Call     Call
	Argument string    // "ref", or "tag" for OCI, or "version" for a constraint, also in the source address
	Range    hcl.Range // of the string that contains the value: SourceRange or VersionRange of Call
	// Value is the tag and Version the version that it denotes, or the constraint and the newest one that it
	// allows.
	Value   string
	Version versions.Version
	// LatestValue is the tag of the newest version, or a constraint that allows it; "" if
	// [versions.MoveConstraint] cannot change the constraint. Both are as above if there is no newer version.
	LatestValue   string
	LatestVersion versions.Version
}

// OtherMajor reports whether the newest version has another major version.
func (p Pin) OtherMajor() bool { return major(p.Version) != major(p.LatestVersion) }

// Outdated reports whether there is a newer version.
func (p Pin) Outdated() bool { return p.Value != p.LatestValue }

func major(v versions.Version) string {
	number, _, _ := strings.Cut(v.String(), ".")
	return number
}
