//go:build !slim

package main

import (
	"os"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gogetter"
	"github.com/cotterpin/cotter/getmodules/hg"
)

// getters fetch from the kinds of sources that the library leaves to whoever
// wants them.
func getters() map[string]getmodules.Getter {
	quietAWS()
	all := gogetter.Getters()
	all["hg"] = hg.Getter{}
	return all
}

// quietAWS keeps the SDK of AWS from writing a line to standard error for each
// object that was stored without a checksum; go-getter leaves no other way than
// its environment. Such checksums are not asked for then: TLS and the lock's
// hashes do their work.
func quietAWS() {
	const variable = "AWS_RESPONSE_CHECKSUM_VALIDATION"
	if _, set := os.LookupEnv(variable); !set {
		_ = os.Setenv(variable, "when_required") // at worst, the line is there
	}
}
