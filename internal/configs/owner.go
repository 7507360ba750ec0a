package configs

import (
	"path/filepath"

	"github.com/cotterpin/cotter/internal/git/gitdir"
)

// isUsable reports whether git would use a repository, given its top directory. If .git is not
// what git expects, its owner counts all the same.
func isUsable(top string) bool {
	repo, err := gitdir.Find(top)
	if err != nil || repo.Top != top {
		repo = gitdir.Repository{Top: top, GitDir: filepath.Join(top, ".git")}
	}
	return gitdir.Check(repo) == nil
}
