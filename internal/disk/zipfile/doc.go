// Package zipfile reads zip archives that all programs read in the same way. It refuses those in which the directory and the
// local headers disagree, with gaps, overlaps, a prefix or trailing data, and features other than deflate. Archives with 64
// bit sizes (zip64), and streamed ones whose sizes follow the contents, are read. Names are not checked, and may occur
// twice: what a name may be is a rule of the caller.
//
// The format is that of PKWARE's APPNOTE 6.3.10.
package zipfile
