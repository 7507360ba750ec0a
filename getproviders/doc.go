// Package getproviders gets the packages of providers from registries and mirrors, and
// proves them.
package getproviders
