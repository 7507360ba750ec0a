package addrs

import "strings"

// Module is the path of a module from the root module: the names of the module
// calls that lead to it. The root module's path is empty.
type Module []string

// String is the path with dots, "network.subnets", which is the key in
// modules.json and the label in the lock. It is "" for the root module. No
// two paths of valid names have the same key, because a name holds no dot.
func (m Module) String() string { return strings.Join(m, ".") }

// Child is the path of the module that the call name leads to. The receiver is
// not changed.
func (m Module) Child(name string) Module {
	return append(m[:len(m):len(m)], name)
}

// IsRoot reports whether m is the root module's path.
func (m Module) IsRoot() bool { return len(m) == 0 }

// ParseModule is the inverse of [Module.String]. The error is a *[ParseError].
func ParseModule(key string) (Module, error) {
	if key == "" {
		return nil, nil
	}
	m := Module(strings.Split(key, "."))
	for _, name := range m {
		if !ValidName(name) {
			return nil, &ParseError{What: "module path", Input: key, Reason: "each part must be the name of a module call: letters, digits, underscores and dashes, with a letter or an underscore first"}
		}
	}
	return m, nil
}
