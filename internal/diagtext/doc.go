// Package diagtext makes errors of diagnostics. The Error method of hcl.Diagnostics names only the
// first one, and counts warnings too.
package diagtext
