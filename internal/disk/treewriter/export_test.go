package treewriter

// NotStored is for errors that only other file systems return.
var NotStored = (*Writer).notStored
