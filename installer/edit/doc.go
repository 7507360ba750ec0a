// Package edit replaces versions in configuration files: the version tag or constraint in a source
// address, and the version constraint of a module call or of a provider requirement. It changes nothing else in
// a file, neither comments nor spacing, in HCL and in JSON.
//
// It writes no files. It returns the new content of each file with the list of edits, so that the
// program can show them, ask, and write the files in its own way:
//
//	pins, err := in.Pins(ctx, project, installer.PinOptions{})
//	files, err := edit.Files(ctx, project.Dir, edit.Changes{Pins: pins})
//	for _, f := range files {
//		err = os.WriteFile(filepath.Join(project.Dir, f.Name), f.New, 0o644)
//	}
//
// Only literal strings are replaced. A value that an expression computes, or that has an escape
// sequence, is an *[Error], and then no file is returned. After the configuration was changed, the
// new versions must be installed.
package edit
