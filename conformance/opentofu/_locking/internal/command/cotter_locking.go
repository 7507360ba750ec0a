package command

import (
	"context"
	"os"

	"github.com/opentofu/opentofu/internal/initwd"

	"github.com/cotterpin/cotter/installer"
)

// moduleLocking is what a command tells the installer of modules about the dependency lock.
type moduleLocking = initwd.Locking

// lockingOf returns what the -lockfile flag of init says. With the environment variable
// TF_ONE_MODULE_VERSION, all calls of a module must share one version.
func lockingOf(mode string) moduleLocking {
	return moduleLocking{
		Readonly:      mode == "readonly",
		AcceptChanged: mode == "accept-changed",
		OneVersion:    os.Getenv("TF_ONE_MODULE_VERSION") != "",
	}
}

// locksModules reports whether the dependency lock in a directory has an entry of a module, or cannot be read. It
// does not stop if init is canceled: what is canceled then is the next step.
func locksModules(ctx context.Context, dir string) bool {
	lock, err := installer.ReadLock(context.WithoutCancel(ctx), installer.Project{Dir: dir})
	return err != nil || len(lock.Modules()) > 0
}
