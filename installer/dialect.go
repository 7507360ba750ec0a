package installer

import (
	"github.com/cotterpin/cotter/installer/config"
)

// Dialect is the stock tool whose conventions apply.
type Dialect = config.Dialect

// The dialects.
const (
	DialectAuto      = config.DialectAuto
	DialectOpenTofu  = config.DialectOpenTofu
	DialectTerraform = config.DialectTerraform
)

func otherDialect(d Dialect) Dialect {
	if d == DialectTerraform {
		return DialectOpenTofu
	}
	return DialectTerraform
}

// DialectSign is something in a project that shows which stock tool it is for.
type DialectSign struct {
	Dialect Dialect
	What    string // describes the sign in messages: "the hosts of the lock's providers"
}
