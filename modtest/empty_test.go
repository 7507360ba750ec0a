package modtest_test

import (
	"testing"

	"github.com/cotterpin/cotter/modtest"
)

// A world without a tree serves only what a test publishes.
func TestEmptyTree(t *testing.T) {
	t.Parallel()
	world, err := modtest.Start(nil, modtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := world.Close(); err != nil {
		t.Error(err)
	}
	if err := new(modtest.World).Close(); err != nil {
		t.Error(err)
	}
}
