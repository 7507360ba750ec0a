package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/bench/internal/report"
	"github.com/cotterpin/cotter/modtest"
)

const privateUser, privatePassword = "bench", "secret"

// access is a way of a user to have credentials for git.
type access struct {
	name string
	// userinfo stands before the host of each address.
	userinfo string
	// config is git's configuration. HOST is the host and the port of the server.
	config string
}

const public = "public"

// privateMeasured returns the world of private repositories, and of the same ones without a
// password.
func privateMeasured() world {
	login := privateUser + ":" + privatePassword
	basic := base64.StdEncoding.EncodeToString([]byte(login))
	helper := fmt.Sprintf("[credential]\n\thelper = \"!f() { test $1 = get && printf 'username=%s\\\\npassword=%s\\\\n'; }; f\"\n", privateUser, privatePassword)
	w := world{
		name:  "private",
		about: "20 calls of 20 private packages in git over https, with each way to have credentials",
		notes: []string{"Git sends credentials of a helper only after the server has refused a request without them, and so does Cotter."},
	}
	for _, a := range []access{
		{name: public},
		{name: "a header", config: "[http \"https://HOST/\"]\n\textraHeader = Authorization: Basic " + basic + "\n"},
		{name: "insteadOf", config: "[url \"https://" + login + "@HOST/\"]\n\tinsteadOf = https://HOST/\n"},
		{name: "insteadOf, as forges advise", config: "[url \"https://" + login + "@HOST\"]\n\tinsteadOf = https://HOST\n"},
		{name: "in the address", userinfo: login + "@"},
		{name: "a credential helper", config: helper},
	} {
		ph := cold
		ph.name = a.name
		w.parts = append(w.parts, part{start: startPrivate(a), phases: []phase{ph}})
		w.goals = append(w.goals, report.Faster(a.name, 8))
		if a.name != public {
			w.goals = append(w.goals, report.NoLongerThan(a.name, public, 1.15))
		}
	}
	return w
}

// privateServers are a world of modules, with git's configuration of a user.
type privateServers struct {
	moduleServers
	gitConfig string
}

func startPrivate(a access) func() (servers, error) {
	return func() (servers, error) {
		var opts modtest.Options
		if a.name != public {
			opts.GitUser, opts.GitPassword = privateUser, privatePassword
		}
		world, err := modtest.Start(modtest.Txtar(flatWorld(20, "git::https://"+a.userinfo+"MODTEST_HOST/git/p%d.git?ref=v1.0.0", "git/p%d.git/v1.0.0", 4<<10)), opts)
		if err != nil {
			return nil, err
		}
		dir, err := os.MkdirTemp("", "bench-private-")
		if err != nil {
			return nil, errors.Join(err, world.Close())
		}
		s := privateServers{moduleServers{world}, filepath.Join(dir, "gitconfig")}
		config := strings.ReplaceAll(a.config, "HOST", strings.TrimPrefix(world.URL(), "https://"))
		if err := os.WriteFile(s.gitConfig, []byte(config), 0o600); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return s, nil
	}
}

func (s privateServers) Env() []string {
	return append(s.World.Env(), "GIT_CONFIG_GLOBAL="+s.gitConfig)
}

func (s privateServers) Close() error {
	return errors.Join(s.World.Close(), os.RemoveAll(filepath.Dir(s.gitConfig)))
}
