package addrs

// ModuleSource is the source address of a module call: a [ModuleSourceLocal],
// [ModuleSourceRegistry] or [ModuleSourceRemote]. There are no other implementations, so a
// type switch over these three is exhaustive.
//
// Every value that [ParseModuleSource] returns is in normal form, and comparable with ==.
type ModuleSource interface {
	// String returns the full form, always with the registry host, as stock tools
	// write it to modules.json. It can contain credentials.
	String() string
	// ForDisplay returns a short form without secrets, for messages.
	ForDisplay() string

	moduleSource() // closed
}

func (ModuleSourceLocal) moduleSource()    {}
func (ModuleSourceRegistry) moduleSource() {}
func (ModuleSourceRemote) moduleSource()   {}
