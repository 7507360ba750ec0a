// Package objects makes a directory of the objects in a bucket whose names begin
// alike, as object stores have no directories.
package objects
