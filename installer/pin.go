package installer

import "github.com/cotterpin/cotter/installer/config"

// Pin is a call with a version tag or a version constraint that package edit can change, as [Installer.Pins] finds it.
type Pin = config.Pin
