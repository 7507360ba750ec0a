// Package rules applies all policies of a run: an action is refused if one of them refuses it.
// The errors are those of package policy.
package rules
