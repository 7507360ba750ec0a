//go:build slim

package main

import (
	"context"
	"errors"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/hg"
)

// getters are those of the full command but for the clouds' SDKs, which are
// more than half of it.
func getters() map[string]getmodules.Getter {
	return map[string]getmodules.Getter{"s3": leftOut{}, "gcs": leftOut{}, "hg": hg.Getter{}}
}

// leftOut says why nothing is fetched.
type leftOut struct{}

// Get makes leftOut a getmodules.Getter.
func (leftOut) Get(context.Context, getmodules.Download) (getmodules.Downloaded, error) {
	return getmodules.Downloaded{}, errors.New("this cotter was built without S3 and GCS, with the tag slim; build it without that tag")
}
