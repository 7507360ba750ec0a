// Package hostile makes the inputs of the tests that somebody might send to do
// harm: archives, git trees, answers of registries, addresses, locks and
// configuration.
//
// Each input belongs to a class, and [Table] says for each class whether it is
// refused or accepted, and why. The tests of this package feed all inputs to
// the code that reads them in earnest, and fail where one of them is not
// treated as the table says, takes too long or too much memory, or has an effect
// outside of the directory that it is given. To add an input, add it to the
// list of its class; to add a class, add a row to the table and a generator.
//
// The inputs are made, not stored, and are the same in every run. What they lack
// is chance: that is what the fuzz targets beside the parsers are for.
package hostile
