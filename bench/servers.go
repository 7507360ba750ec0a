package main

import (
	"net/http"
	"time"

	"github.com/cotterpin/cotter/modtest"
)

type servers interface {
	URL() string
	HTTPClient() *http.Client
	// Env returns environment variables for the tools.
	Env() []string
	// CLIConfig is the tools' CLI configuration.
	CLIConfig() string
	WriteTree(dir, name string) error
	// Wait sets the time before each answer.
	Wait(time.Duration)
	Requests() []modtest.Request
	ResetRequests()
	BytesSent() int64
	Close() error
}

type moduleServers struct{ *modtest.World }

func startModules(txtar string, opts modtest.Options) func() (servers, error) {
	return func() (servers, error) {
		world, err := modtest.Start(modtest.Txtar(txtar), opts)
		return moduleServers{world}, err
	}
}

func (s moduleServers) Wait(d time.Duration) { s.SetFaults(modtest.Fault{Delay: d}) }
func (s moduleServers) CLIConfig() string    { return "" }
