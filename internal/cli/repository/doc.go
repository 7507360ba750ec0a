// Package repository answers questions about the directory tree and the git repository around root
// modules: which root modules there are, and which of them a change affects. A pipeline that installs many
// root modules begins with it:
//
//	dirs, err := repository.Roots(ctx, in, ".", repository.RootsOptions{})
//	files, err := repository.ChangedFiles(ctx, ".", "origin/main")
//	dirs, err = repository.ChangedRoots(ctx, in, dirs, files, installer.Project{})
//
// It changes nothing and sends no requests. Only [ChangedFiles] runs the program git.
package repository
