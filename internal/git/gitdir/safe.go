package gitdir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/cotterpin/cotter/internal/procgroup"
)

// Rule decides which repositories may be used. The zero value is the rule for the process.
type Rule struct {
	// Env is the environment that locates git's configuration, as in [os.Environ], with
	// SUDO_UID. nil means the environment of the process.
	Env []string
}

const (
	// maxConfig bounds the size of one configuration file, in bytes.
	maxConfig = 4 << 20
	// maxDepth bounds how deep files include each other. Git has the same limit.
	maxDepth = 10
	// maxVariables bounds GIT_CONFIG_COUNT.
	maxVariables = 10_000
)

// safeDirectories returns the values of safe.directory, without those that a later empty value
// discards.
func (r Rule) safeDirectories() ([]string, error) {
	found := &protectedConfig{rule: r}
	for _, file := range r.files() {
		text, err := readConfig(file)
		if isMissing(err) || errors.Is(err, fs.ErrPermission) {
			continue // git ignores that too
		}
		if err != nil {
			return nil, err
		}
		if err := found.parse(text, file, 0); err != nil {
			return nil, err
		}
	}
	if err := found.readVariables(); err != nil {
		return nil, err
	}
	if err := found.readParameters(); err != nil {
		return nil, err
	}
	return found.safe, nil
}

// files returns the system's configuration file and those of the user, in git's order. They
// need not exist.
func (r Rule) files() []string {
	var files []string
	if none, _ := r.lookup("GIT_CONFIG_NOSYSTEM"); !IsTrue(none) {
		files = append(files, r.systemFile())
	}
	if global, ok := r.lookup("GIT_CONFIG_GLOBAL"); ok {
		return append(files, global)
	}
	home, _ := r.lookup("HOME")
	if home == "" && runtime.GOOS == "windows" {
		home, _ = r.lookup("USERPROFILE")
	}
	if xdg, _ := r.lookup("XDG_CONFIG_HOME"); xdg != "" {
		files = append(files, filepath.Join(xdg, "git", "config"))
	} else if home != "" {
		files = append(files, filepath.Join(home, ".config", "git", "config"))
	}
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return files
}

// systemFile returns the path of the system's configuration file.
func (r Rule) systemFile() string {
	if file, ok := r.lookup("GIT_CONFIG_SYSTEM"); ok {
		return file
	}
	file := filepath.Join(r.prefix(), "etc", "gitconfig")
	if runtime.GOOS == "windows" && strings.HasPrefix(filepath.Base(r.prefix()), "mingw") {
		file = filepath.Join(filepath.Dir(r.prefix()), "etc", "gitconfig")
	}
	if _, err := os.Lstat(file); err != nil {
		return "/etc/gitconfig"
	}
	return file
}

// prefix returns the directory in which git is installed.
func (r Rule) prefix() string {
	git := procgroup.Find(r.Env, "git")
	if git == "" {
		return "/usr"
	}
	return filepath.Dir(filepath.Dir(git))
}

// lookup returns the value of an environment variable and reports whether it is set, even if
// it is empty.
func (r Rule) lookup(name string) (value string, ok bool) {
	value, _ = procgroup.Lookup(r.Env, name)
	return value, len(procgroup.Without(slices.Clone(r.Env), name)) < len(r.Env)
}

// expand replaces what a path in git's configuration may begin with: "~/", "~USER/" and
// "%(prefix)/". ok is false if the directory for it is not known.
func (r Rule) expand(path string) (expanded string, ok bool) {
	if below, ok := strings.CutPrefix(path, "%(prefix)/"); ok {
		if filepath.IsAbs(below) {
			return below, true
		}
		return filepath.Join(r.prefix(), below), true
	}
	name, ok := strings.CutPrefix(path, "~")
	if !ok {
		return path, true
	}
	name, below, _ := strings.Cut(name, "/")
	home, _ := r.lookup("HOME")
	if name != "" {
		found, err := user.Lookup(name)
		if err != nil {
			return "", false
		}
		home = found.HomeDir
	}
	return filepath.Join(home, below), home != ""
}

// protectedConfig collects safe.directory from configuration that does not come from a
// repository.
type protectedConfig struct {
	rule Rule
	safe []string
}

// parse reads the settings in the text of a configuration file, and the files that it includes.
func (c *protectedConfig) parse(text, name string, depth int) error {
	settings, err := ParseConfig(strings.TrimPrefix(text, "\ufeff"))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, s := range settings {
		if s.Subsection != "" {
			continue
		}
		if err := c.set(s.Section+"."+s.Name, s.Value, filepath.Dir(name), depth); err != nil {
			return err
		}
	}
	return nil
}

// set takes notice of a setting. dir is the directory of its file, if it comes from a file.
func (c *protectedConfig) set(name, value, dir string, depth int) error {
	switch {
	case strings.EqualFold(name, "safe.directory") && value == "":
		c.safe = nil
	case strings.EqualFold(name, "safe.directory"):
		c.safe = append(c.safe, value)
	case strings.EqualFold(name, "include.path"):
		return c.include(value, dir, depth+1)
	}
	return nil
}

// include reads the file that a setting in dir includes. A missing file is ignored.
func (c *protectedConfig) include(path, dir string, depth int) error {
	file, ok := c.rule.expand(path)
	switch {
	case !ok || file == "":
		return fmt.Errorf("include.path: %q cannot be expanded", path)
	case depth > maxDepth:
		return fmt.Errorf("include.path: %q is included more than %d deep", path, maxDepth)
	case !filepath.IsAbs(file) && dir == "":
		return fmt.Errorf("include.path: %q is not an absolute path", path)
	case !filepath.IsAbs(file):
		file = filepath.Join(dir, file)
	}
	text, err := readConfig(file)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return c.parse(text, file, depth)
}

// readVariables reads the settings in GIT_CONFIG_COUNT, GIT_CONFIG_KEY_n and
// GIT_CONFIG_VALUE_n.
func (c *protectedConfig) readVariables() error {
	text, _ := c.rule.lookup("GIT_CONFIG_COUNT")
	if text == "" {
		return nil
	}
	count, err := strconv.Atoi(text)
	if err != nil || count < 0 || count > maxVariables {
		return fmt.Errorf("GIT_CONFIG_COUNT is %q", text)
	}
	for i := range count {
		key, _ := c.rule.lookup(fmt.Sprintf("GIT_CONFIG_KEY_%d", i))
		value, ok := c.rule.lookup(fmt.Sprintf("GIT_CONFIG_VALUE_%d", i))
		if key == "" || !ok {
			return fmt.Errorf("GIT_CONFIG_KEY_%d or GIT_CONFIG_VALUE_%d is not set", i, i)
		}
		if err := c.set(key, value, "", 0); err != nil {
			return err
		}
	}
	return nil
}

// readParameters reads GIT_CONFIG_PARAMETERS, in which "git -c" passes settings to the
// programs that it starts: words in quotes, either 'NAME'='VALUE' or the older 'NAME=VALUE'.
func (c *protectedConfig) readParameters() error {
	rest, _ := c.rule.lookup("GIT_CONFIG_PARAMETERS")
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		name, after, err := unquote(rest)
		if err != nil {
			return err
		}
		value := ""
		if quoted, ok := strings.CutPrefix(after, "="); !ok {
			name, value, _ = strings.Cut(name, "=")
		} else if after = quoted; strings.HasPrefix(quoted, "'") {
			if value, after, err = unquote(quoted); err != nil {
				return err
			}
		}
		if after != "" && after[0] != ' ' {
			return errParameters
		}
		if err := c.set(name, value, "", 0); err != nil {
			return err
		}
		rest = after
	}
	return nil
}

var errParameters = errors.New("GIT_CONFIG_PARAMETERS does not have git's format")

// unquote returns the word in single quotes at the start of text, and the text after it. A
// quote or an exclamation mark in the word stands outside of the quotes, after a backslash.
func unquote(text string) (word, rest string, err error) {
	var b strings.Builder
	for strings.HasPrefix(text, "'") {
		part, after, ok := strings.Cut(text[1:], "'")
		if !ok {
			return "", "", errParameters
		}
		b.WriteString(part)
		if !strings.HasPrefix(after, `\'`) && !strings.HasPrefix(after, `\!`) {
			return b.String(), after, nil
		}
		b.WriteByte(after[1])
		text = after[2:]
	}
	return "", "", errParameters
}

// IsTrue reports whether git takes a value for true. It takes unknown words for true, because
// git refuses them.
func IsTrue(value string) bool {
	return !slices.Contains([]string{"", "0", "no", "off", "false"}, strings.ToLower(value))
}

// readConfig returns the content of a regular file.
func readConfig(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		if info.Mode()&fs.ModeCharDevice != 0 {
			return "", nil // the null device, which means no settings
		}
		return "", &fs.PathError{Op: "read", Path: name, Err: errors.New("it is not a regular file")}
	}
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	if err == nil && len(text) > maxConfig {
		err = fmt.Errorf("%s has more than %d bytes", name, maxConfig)
	}
	return string(text), err
}

// isMissing reports whether a file does not exist.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
