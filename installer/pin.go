package installer

import "github.com/cotterpin/cotter/installer/config"

// Pin is a call with a version tag or a version constraint, with its newest version, as [Installer.Pins] finds it. Package
// edit can change it.
type Pin = config.Pin
