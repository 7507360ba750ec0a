package addrs

import "strings"

// Module is the path of a module from the root module: the names of the module calls on the
// path. The root module's path is empty.
type Module []string

// String returns the dotted path, such as "network.subnets", which is the key in
// modules.json and the label in the lock. It is "" for the root module. Different paths of
// valid names have different strings, because names contain no dots.
func (m Module) String() string { return strings.Join(m, ".") }

// Child returns the path of the module that m calls by this name. It does not change m.
func (m Module) Child(name string) Module {
	return append(m[:len(m):len(m)], name)
}

// IsRoot reports whether m is the root module's path.
func (m Module) IsRoot() bool { return len(m) == 0 }

// testModule is the first part of the keys of modules that tests run. The other parts are
// the test file's directory and name, and the name of the run.
const testModule = "test"

// ParseModule is the inverse of [Module.String] for valid names. The error is a
// *[ParseError]. If the first name is "test", the others may also begin with a digit or a
// dash, as names of test files do.
func ParseModule(key string) (Module, error) {
	if key == "" {
		return nil, nil
	}
	m := Module(strings.Split(key, "."))
	for i, name := range m {
		fileName := i > 0 && m[0] == testModule && ValidName("_"+name) && name != ""
		if !ValidName(name) && !fileName {
			return nil, &ParseError{What: "module path", Input: key, Reason: "each part must be the name of a module call: letters, digits, underscores and dashes, with a letter or an underscore first"}
		}
	}
	return m, nil
}
