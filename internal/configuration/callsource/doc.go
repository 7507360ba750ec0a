// Package callsource parses the source address and the version constraint of a module call, and compares them with
// entries of a lock. It sends no requests; what an origin has is known to package origins.
package callsource
