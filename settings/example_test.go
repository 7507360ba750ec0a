package settings_test

import (
	"fmt"

	"github.com/cotterpin/cotter/settings"
)

func Example() {
	found, diags := settings.Parse([]byte(`
settings {
  for       = "tofu"
  lock_file = "modules.lock.hcl"
  platforms = ["linux_amd64", "darwin_arm64"]
}
`), "cotter.hcl")
	if diags.HasErrors() {
		fmt.Println(diags)
		return
	}
	fmt.Println(found.For, found.LockFile, found.Platforms)
	// Output:
	// tofu modules.lock.hcl [linux_amd64 darwin_arm64]
}
