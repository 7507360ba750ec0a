// Package atomicfile reads, replaces and removes files on disk so that a crash or another program
// cannot make their content wrong.
//
// A file that [Write] replaces has either the old or the new content after a crash at any point. The
// target must be a regular file or not exist: links, devices and pipes are never followed, replaced or,
// by [Read], read. Errors are of type *fs.PathError with the target's name.
//
// Each change that Cotter makes on disk is a named [Step]. Tests can stop a real process between any two,
// make one fail, or record their order. Outside of tests there is no hook.
package atomicfile
