package addrs

// ModuleSource is where a module call says its module comes from. It is a
// closed sum: [ModuleSourceLocal], [ModuleSourceRegistry] and
// [ModuleSourceRemote] are its only members, so a type switch over the three
// is exhaustive.
//
// Every value that [ParseModuleSource] returns is in normal form and is
// comparable with ==.
type ModuleSource interface {
	// String is the full form, with the registry host always written. It is
	// what stock tools record as Source in modules.json. It may hold
	// credentials.
	String() string
	// ForDisplay is the form to show to people: short, and without secrets.
	ForDisplay() string

	moduleSource() // closed
}

func (ModuleSourceLocal) moduleSource()    {}
func (ModuleSourceRegistry) moduleSource() {}
func (ModuleSourceRemote) moduleSource()   {}
