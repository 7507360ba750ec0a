// Package unittest shows how a tool's own unit tests use a fake registry: three
// lines for the world, and no network. See its test.
package unittest
