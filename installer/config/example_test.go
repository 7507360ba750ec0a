package config_test

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
)

// oneCall is the reader of a tool that knows its calls from somewhere else.
type oneCall struct{ source, version string }

func (c oneCall) ReadModule(_ context.Context, dir config.Dir) (config.Module, hcl.Diagnostics) {
	if !dir.Path.IsRoot() {
		return config.Module{}, nil
	}
	return config.Module{Calls: []config.Call{{Name: "net", Source: c.source, Version: &c.version}}}, nil
}

func ExampleReader() {
	var reader config.Reader = oneCall{"acme/net/aws", "~> 1.2"}
	module, _ := reader.ReadModule(context.Background(), config.Dir{Dir: "infra", Display: "."})
	for _, call := range module.Calls {
		fmt.Println(call.PathIn(nil), call.Source, *call.Version)
	}
	// A run in a test has the names of its file before its own.
	fmt.Println(config.Call{Name: "setup", Prefix: addrs.Module{"test", "tests", "main"}}.PathIn(nil))
	// Output:
	// net acme/net/aws ~> 1.2
	// test.tests.main.setup
}

func ExampleInterfaceChange() {
	fmt.Println(config.InterfaceChange{Kind: "variable", Name: "cidr", Old: "string", New: "required string", Breaking: true})
	fmt.Println(config.InterfaceChange{Kind: "output", Name: "id", Old: "declared", Breaking: true})
	// Output:
	// variable "cidr" changed: string -> required string
	// output "id" removed
}
