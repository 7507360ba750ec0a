package main

import (
	"path/filepath"
	"testing"
)

func TestStateDir(t *testing.T) {
	t.Parallel()
	root := filepath.VolumeName(t.TempDir()) + string(filepath.Separator)
	home, xdg := filepath.Join(root, "home", "u"), filepath.Join(root, "xdg")
	unix := filepath.Join(home, ".local", "state", "cotter")
	for _, test := range []struct {
		name, goos string
		env        map[string]string
		want       string
	}{
		{"home", "linux", map[string]string{"HOME": home}, unix},
		{"macOS", "darwin", map[string]string{"HOME": home}, unix},
		{"root as home", "linux", map[string]string{"HOME": root}, filepath.Join(root, ".local", "state", "cotter")},
		{"XDG", "linux", map[string]string{"HOME": home, "XDG_STATE_HOME": xdg}, filepath.Join(xdg, "cotter")},
		{"relative XDG", "linux", map[string]string{"HOME": home, "XDG_STATE_HOME": "state"}, unix},
		{"XDG without a home", "linux", map[string]string{"XDG_STATE_HOME": xdg}, filepath.Join(xdg, "cotter")},
		{"own variable", "linux", map[string]string{"HOME": home, "XDG_STATE_HOME": xdg, "COTTER_STATE_DIR": "own"}, "own"},
		{"no home", "linux", nil, ""},
		{"relative home", "linux", map[string]string{"HOME": "u"}, ""},
		{"Windows", "windows", map[string]string{"HOME": home, "LocalAppData": home}, filepath.Join(home, "cotter")},
		{"Windows, own variable", "windows", map[string]string{"LocalAppData": home, "COTTER_STATE_DIR": xdg}, xdg},
		{"Windows without a home", "windows", map[string]string{"HOME": home}, ""},
	} {
		got := stateDirOn(test.goos, func(name string) string { return test.env[name] })
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	own := func(name string) string { return map[string]string{"COTTER_STATE_DIR": home}[name] }
	if got := stateDir(own); got != home {
		t.Errorf("stateDir = %q, want %q", got, home)
	}
}
