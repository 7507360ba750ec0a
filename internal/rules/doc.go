// Package rules applies cotter.hcl to a run. It finds the file, and applies all policies of the run: an
// action is refused if one of them refuses it. The errors are those of package policy.
//
// It is not a part of package policy, which programs can use without what a run consists of: requests,
// signed packages of providers, and the files of a project.
package rules
