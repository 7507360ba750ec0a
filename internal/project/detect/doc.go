// Package detect finds out from the user's files what is there: which directories are root modules
// ([Roots]), which root modules changed files affect ([ChangedRoots]), and which stock tool a project is for
// ([Detect]). Symbolic links and irregular files are ignored. The caller decides how configuration is read,
// and what to do about guesses and contradicting signs.
package detect
