package eval

import (
	"context"
	"maps"
	"slices"
)

// FunctionNames returns the names of all functions that can be called, and IsLeftOut reports whether a call of a
// function of the stock tools is an error that says why.
func FunctionNames() []string {
	return slices.Collect(maps.Keys(NewMeter(context.Background(), new(Tree)).functions(Scope{Files: noFiles{}})))
}

func IsLeftOut(name string) bool { return isImpure(name) || isUnsupported(name) }

type noFiles struct{ Files }
