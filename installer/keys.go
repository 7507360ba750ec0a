package installer

import (
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

func pathOf(key string) addrs.Module {
	path, _ := addrs.ParseModule(key)
	return path
}

// recordedPath returns the path of a key that may be invalid, such as one in modules.json or the
// name of a directory. The path's String method returns the key.
func recordedPath(key string) addrs.Module {
	if key == "" {
		return nil
	}
	return strings.Split(key, ".")
}

// isKey reports whether a key from a file can be the key of a module call.
func isKey(key string) bool {
	path, err := addrs.ParseModule(key)
	return err == nil && !path.IsRoot()
}
