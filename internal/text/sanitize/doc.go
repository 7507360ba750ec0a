// Package sanitize prepares the output of other programs and servers for error messages: it
// limits the length, removes secrets, and escapes characters that a terminal would interpret. A token or
// a password that we have is a [Secret], which nothing prints.
package sanitize
