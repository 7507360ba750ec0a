package addrs

import "path/filepath"

// detectFile recognizes absolute paths of the operating system. It does not escape them, so
// a "?" in a path begins a query string.
func detectFile(src string) (string, bool, error) {
	if !filepath.IsAbs(src) {
		return "", false, nil
	}
	return "file://" + filepath.ToSlash(src), true, nil
}
