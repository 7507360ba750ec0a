// Package child keeps the programs that we start, and what they start in their
// turn, away from the terminal and ends them together.
//
// It is the part of that which differs between systems; on those without
// process groups a program that is left behind by another one stays.
package child
