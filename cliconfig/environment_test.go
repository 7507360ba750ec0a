package cliconfig_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/cliconfig"
)

func TestDirectories(t *testing.T) {
	t.Parallel()
	root := filepath.VolumeName(t.TempDir()) + string(filepath.Separator)
	home, xdg := filepath.Join(root, "home", "u"), filepath.Join(root, "xdg")
	const state, settings = "/home/u/.local/state/cotter", "/home/u/.config/cotter/cotter.hcl"
	for _, test := range []struct {
		name, goos             string
		env                    map[string]string
		cache, state, settings string
	}{
		{"home", "linux", map[string]string{"HOME": home}, "/home/u/.cache/cotter", state, settings},
		{"root as home", "linux", map[string]string{"HOME": root}, "/.cache/cotter", "/.local/state/cotter", "/.config/cotter/cotter.hcl"},
		{"relative home", "linux", map[string]string{"HOME": "u"}, "u/.cache/cotter", "", ""},
		{"no home", "linux", nil, "", "", ""},
		{"XDG", "linux", map[string]string{"HOME": home, "XDG_CACHE_HOME": xdg, "XDG_STATE_HOME": xdg, "XDG_CONFIG_HOME": xdg}, "/xdg/cotter", "/xdg/cotter", "/xdg/cotter/cotter.hcl"},
		{"relative XDG", "linux", map[string]string{"HOME": home, "XDG_CACHE_HOME": "cache", "XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config"}, "", state, settings},
		{"XDG without a home", "freebsd", map[string]string{"XDG_CACHE_HOME": xdg, "XDG_STATE_HOME": xdg}, "/xdg/cotter", "/xdg/cotter", ""},
		{"own variables", "linux", map[string]string{"HOME": home, "XDG_CACHE_HOME": xdg, "XDG_STATE_HOME": xdg, "XDG_CONFIG_HOME": xdg, "COTTER_CACHE_DIR": "c", "COTTER_STATE_DIR": "s", "COTTER_CONFIG_FILE": "f"}, "c", "s", "f"},
		{"macOS", "darwin", map[string]string{"HOME": home, "XDG_CACHE_HOME": xdg}, "/home/u/Library/Caches/cotter", state, settings},
		{"macOS without a home", "darwin", nil, "", "", ""},
		{"Windows", "windows", map[string]string{"HOME": home, "LocalAppData": home, "APPDATA": home, "XDG_CACHE_HOME": xdg}, "/home/u/cotter", "/home/u/cotter", "/home/u/cotter/cotter.hcl"},
		{"Windows, other case", "windows", map[string]string{"LOCALAPPDATA": home}, "/home/u/cotter", "/home/u/cotter", ""},
		{"Windows, own variables", "windows", map[string]string{"LocalAppData": home, "COTTER_CACHE_DIR": "c", "COTTER_STATE_DIR": "s"}, "c", "s", ""},
		{"Windows without a profile", "windows", map[string]string{"HOME": home}, "", "", ""},
	} {
		env := directoriesEnvironment(test.goos, test.env)
		file, named := env.ConfigFile()
		for what, pair := range map[string][2]string{
			"the cache": {env.CacheDir(), test.cache}, "the state": {env.StateDir(), test.state}, "the settings": {file, test.settings},
		} {
			want := filepath.FromSlash(pair[1])
			if rest, ok := strings.CutPrefix(pair[1], "/"); ok {
				want = filepath.Join(root, rest)
			}
			if pair[0] != want {
				t.Errorf("%s: %s is %q, want %q", test.name, what, pair[0], want)
			}
		}
		if named != (test.env["COTTER_CONFIG_FILE"] != "") {
			t.Errorf("%s: the file of settings is named: %t", test.name, named)
		}
	}
}

// "{uid}" gives each user a directory of their own.
func TestDirectoriesOfUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() < 0 {
		t.Skip("users have no numbers on this system")
	}
	env := directoriesEnvironment("linux", map[string]string{"COTTER_CACHE_DIR": "/cache/{uid}", "COTTER_STATE_DIR": "/state/{uid}/x"})
	id := strconv.Itoa(os.Getuid())
	if cache, state := env.CacheDir(), env.StateDir(); cache != "/cache/"+id || state != "/state/"+id+"/x" {
		t.Errorf("the directories are %q and %q", cache, state)
	}
}

// TestCacheDirOfThisProcess compares with the standard library.
func TestCacheDirOfThisProcess(t *testing.T) {
	t.Parallel()
	env := cliconfig.OSEnvironment()
	env.Variables = slices.DeleteFunc(env.Variables, func(entry string) bool { return strings.HasPrefix(entry, "COTTER_") })
	want, err := os.UserCacheDir()
	if err == nil {
		want = filepath.Join(want, "cotter")
	}
	if got := env.CacheDir(); got != want {
		t.Errorf("%s: %q, want %q", runtime.GOOS, got, want)
	}
}

// directoriesEnvironment is an environment as [cliconfig.OSEnvironment] returns
// it on an operating system.
func directoriesEnvironment(goos string, variables map[string]string) cliconfig.Environment {
	env := cliconfig.Environment{GOOS: goos}
	for name, value := range variables {
		env.Variables = append(env.Variables, name+"="+value)
	}
	if goos != "windows" {
		env.Home = variables["HOME"]
	}
	return env
}
