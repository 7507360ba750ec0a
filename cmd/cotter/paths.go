package main

// In errors, results and JSON, file names are relative to the project. Text output shows them
// relative to the current directory, so that an editor or a shell can open them from there.
