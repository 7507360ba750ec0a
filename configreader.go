package cotter

// DefaultConfigReader returns the ConfigReader that an Installer without one
// uses for a request, for programs that wrap it:
//
//	reader, err := cotter.DefaultConfigReader(req)
//	in := cotter.Installer{Config: wrapper{reader}}
//	result, err := in.Install(ctx, req)
//
// It evaluates expressions with the request's variables, environment and
// workspace, and reads the tests in its test directory. It keeps what a module
// passes to the modules that it calls, so it is for one configuration: a request
// for another directory or with other variables needs another reader. It is safe
// for concurrent use.
//
// An error says why the selected workspace could not be read.
func DefaultConfigReader(req Request) (ConfigReader, error) { return newConfigReader(req) }
