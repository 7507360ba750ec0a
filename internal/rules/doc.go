// Package rules applies all policies of a run: an action is refused if one of them refuses it. The errors are
// those of package policy, which programs can use without what a run consists of: requests, signed packages of
// providers, and the files of a project. Package policyfile reads the policies.
package rules
