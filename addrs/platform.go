package addrs

import (
	"fmt"
	"runtime"
	"strings"
)

// Platform is the operating system and the architecture that a provider's package is built
// for, with the names that the go command uses. It is comparable.
type Platform struct{ OS, Arch string }

// CurrentPlatform is the platform of this process.
func CurrentPlatform() Platform { return Platform{OS: runtime.GOOS, Arch: runtime.GOARCH} }

// String returns the form that is used in directories, files and flags: "linux_amd64".
func (p Platform) String() string { return p.OS + "_" + p.Arch }

// ParsePlatform parses OS_ARCH, such as "linux_amd64". Both parts consist of lower-case
// letters and digits. It does not check whether the platform exists. The error is a
// *[ParseError].
func ParsePlatform(s string) (Platform, error) {
	os, arch, _ := strings.Cut(s, "_")
	for _, part := range []string{os, arch} {
		if part == "" || len(part) > 32 || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return Platform{}, &ParseError{What: "platform", Input: s, Reason: fmt.Sprintf("it must have the form OS_ARCH, such as %q", CurrentPlatform())}
		}
	}
	return Platform{OS: os, Arch: arch}, nil
}
