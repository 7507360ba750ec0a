// Package objects downloads the objects of a bucket whose names have a common prefix into a
// directory. Object stores have no directories of their own.
package objects
