package cliconfig

import (
	"runtime"
	"strings"
)

// Source is where the configuration is read from. The zero value finds nothing.
type Source struct {
	// Environ is the environment, as in os.Environ. Helpers get all of it.
	Environ []string
	// Home is the user's home directory; "" for none.
	Home string
	// Terraform reads what terraform reads, not what tofu does.
	Terraform bool
	// GOOS is the system whose conventions apply. "" means this one.
	GOOS string
	// Warn is called with a sentence about each file of credentials that was
	// found and is skipped because the user has no right to read it, when such
	// a file is first needed. It must be safe for concurrent use. nil means
	// that nobody wants to know.
	Warn func(text string)
}

// lookup is a variable's value; "" where it is not set.
func (s Source) lookup(name string) string {
	for i := len(s.Environ) - 1; i >= 0; i-- { // the last one counts
		key, value, _ := strings.Cut(s.Environ[i], "=")
		if key == name || s.windows() && strings.EqualFold(key, name) {
			return value
		}
	}
	return ""
}

func (s Source) goos() string {
	if s.GOOS != "" {
		return s.GOOS
	}
	return runtime.GOOS
}

func (s Source) windows() bool { return s.goos() == "windows" }
