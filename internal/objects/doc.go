// Package objects downloads the objects of a bucket whose names have the same prefix
// into a directory. Object stores have no directories of their own.
package objects
