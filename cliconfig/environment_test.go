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
		if got := directoriesEnvironment(test.goos, test.env).StateDir(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestConfigFile(t *testing.T) {
	t.Parallel()
	root := filepath.VolumeName(t.TempDir()) + string(filepath.Separator)
	home, xdg := filepath.Join(root, "home", "u"), filepath.Join(root, "xdg")
	unix := filepath.Join(home, ".config", "cotter", "cotter.hcl")
	for _, test := range []struct {
		name, goos string
		env        map[string]string
		want       string
		named      bool
	}{
		{"home", "linux", map[string]string{"HOME": home}, unix, false},
		{"macOS", "darwin", map[string]string{"HOME": home}, unix, false},
		{"XDG", "linux", map[string]string{"HOME": home, "XDG_CONFIG_HOME": xdg}, filepath.Join(xdg, "cotter", "cotter.hcl"), false},
		{"relative XDG", "linux", map[string]string{"HOME": home, "XDG_CONFIG_HOME": "config"}, unix, false},
		{"own variable", "linux", map[string]string{"HOME": home, "XDG_CONFIG_HOME": xdg, "COTTER_CONFIG_FILE": "own"}, "own", true},
		{"no home", "linux", nil, "", false},
		{"relative home", "linux", map[string]string{"HOME": "u"}, "", false},
		{"Windows", "windows", map[string]string{"HOME": home, "APPDATA": home}, filepath.Join(home, "cotter", "cotter.hcl"), false},
		{"Windows without a home", "windows", map[string]string{"HOME": home}, "", false},
	} {
		if got, named := directoriesEnvironment(test.goos, test.env).ConfigFile(); got != test.want || named != test.named {
			t.Errorf("%s: %q, %t, want %q, %t", test.name, got, named, test.want, test.named)
		}
	}
}

func TestCacheDir(t *testing.T) {
	t.Parallel()
	root := filepath.VolumeName(t.TempDir()) + string(filepath.Separator)
	home, xdg := filepath.Join(root, "home", "u"), filepath.Join(root, "xdg")
	for _, test := range []struct {
		name, goos string
		env        map[string]string
		want       string
	}{
		{"home", "linux", map[string]string{"HOME": home}, filepath.Join(home, ".cache", "cotter")},
		{"macOS", "darwin", map[string]string{"HOME": home, "XDG_CACHE_HOME": xdg}, filepath.Join(home, "Library", "Caches", "cotter")},
		{"XDG", "linux", map[string]string{"HOME": home, "XDG_CACHE_HOME": xdg}, filepath.Join(xdg, "cotter")},
		{"relative XDG", "linux", map[string]string{"HOME": home, "XDG_CACHE_HOME": "cache"}, ""},
		{"XDG without a home", "freebsd", map[string]string{"XDG_CACHE_HOME": xdg}, filepath.Join(xdg, "cotter")},
		{"own variable", "linux", map[string]string{"HOME": home, "XDG_CACHE_HOME": xdg, "COTTER_CACHE_DIR": "own"}, "own"},
		{"no home", "linux", nil, ""},
		{"macOS without a home", "darwin", nil, ""},
		{"Windows", "windows", map[string]string{"HOME": home, "LocalAppData": home, "XDG_CACHE_HOME": xdg}, filepath.Join(home, "cotter")},
		{"Windows, other case", "windows", map[string]string{"LOCALAPPDATA": home}, filepath.Join(home, "cotter")},
		{"Windows, own variable", "windows", map[string]string{"LocalAppData": home, "COTTER_CACHE_DIR": xdg}, xdg},
		{"Windows without a profile", "windows", map[string]string{"HOME": home}, ""},
	} {
		if got := directoriesEnvironment(test.goos, test.env).CacheDir(); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
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
