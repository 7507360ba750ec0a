package installer

import (
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

func pathOf(key string) addrs.Module {
	path, _ := addrs.ParseModule(key)
	return path
}

// recordedPath returns the path of a key that may be invalid, such as the name of a directory.
func recordedPath(key string) addrs.Module {
	if key == "" {
		return nil
	}
	return strings.Split(key, ".")
}

func isKey(key string) bool {
	path, err := addrs.ParseModule(key)
	return err == nil && !path.IsRoot()
}
