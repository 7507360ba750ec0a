package addrs

import "path/filepath"

// detectFile claims the absolute paths of the system that it runs on. It does
// not escape them, so a "?" in a path begins a query string.
func detectFile(src string) (string, bool, error) {
	if !filepath.IsAbs(src) {
		return "", false, nil
	}
	return "file://" + filepath.ToSlash(src), true, nil
}
