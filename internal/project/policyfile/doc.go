// Package policyfile finds and reads cotter.hcl, and the policy files that users name. Package policy parses them,
// and internal/rules applies the policies to a run.
package policyfile
