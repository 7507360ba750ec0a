package views

import (
	"strings"

	"github.com/opentofu/opentofu/internal/initwd"
)

func (h moduleInstallationHookHuman) Lock(line string) { _, _ = h.v.streams.Println(line) }

func (h moduleInstallationHookJSON) Lock(line string) { h.v.Info(strings.TrimSpace(line)) }

func (m moduleInstallationHookMulti) Lock(line string) {
	for _, h := range m {
		if h, ok := h.(initwd.LockHooks); ok {
			h.Lock(line)
		}
	}
}
