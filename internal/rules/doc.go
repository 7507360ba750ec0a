// Package rules applies all policies of a run: what one of them refuses is refused. The
// errors are those of package policy.
package rules
