package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// providerServers is a registry that serves archives from the disk, and holds no answer in memory while it waits.
type providerServers struct {
	plainServer
	archives [][]providerArchive
	key      *openpgp.Entity
	armor    string
}

func startProviders() (servers, error) {
	s := &providerServers{}
	var err error
	if s.archives, err = makeArchives(); err != nil {
		return nil, err
	}
	if err := s.makeKey(); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/providers/bench/{type}/versions", s.provider(s.serveVersions))
	mux.HandleFunc("GET /v1/providers/bench/{type}/{version}/download/{os}/{arch}", s.provider(s.servePackage))
	mux.HandleFunc("GET /files/{type}/{file}", s.provider(s.serveFile))
	s.start(mux)
	return s, nil
}

func (s *providerServers) makeKey() error {
	var err error
	if s.key, err = openpgp.NewEntity("bench", "", "bench@example.com", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}); err != nil {
		return err
	}
	var text bytes.Buffer
	w, err := armor.Encode(&text, openpgp.PublicKeyType, nil)
	if err != nil {
		return err
	}
	if err := s.key.Serialize(w); err != nil {
		return err
	}
	err = w.Close()
	s.armor = text.String()
	return err
}

func (s *providerServers) provider(serve func(http.ResponseWriter, *http.Request, []providerArchive)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i, archives := range s.archives {
			if r.PathValue("type") == fmt.Sprintf("p%d", i) {
				serve(w, r, archives)
				return
			}
		}
		http.NotFound(w, r)
	}
}

func (s *providerServers) serveVersions(w http.ResponseWriter, _ *http.Request, archives []providerArchive) {
	var platforms []map[string]string
	for _, a := range archives {
		platforms = append(platforms, map[string]string{"os": a.platform.OS, "arch": a.platform.Arch})
	}
	var versions []any
	for _, version := range []string{"0.9.0", providerVersion} {
		versions = append(versions, map[string]any{"version": version, "protocols": []string{"5.0"}, "platforms": platforms})
	}
	answerJSON(w, map[string]any{"versions": versions})
}

func (s *providerServers) servePackage(w http.ResponseWriter, r *http.Request, archives []providerArchive) {
	i := slices.IndexFunc(archives, func(a providerArchive) bool {
		return a.platform.OS == r.PathValue("os") && a.platform.Arch == r.PathValue("arch")
	})
	if i < 0 || r.PathValue("version") != providerVersion {
		http.NotFound(w, r)
		return
	}
	files := s.server.URL + "/files/" + r.PathValue("type") + "/"
	answerJSON(w, map[string]any{
		"protocols": []string{"5.0"}, "os": archives[i].platform.OS, "arch": archives[i].platform.Arch,
		"filename": archives[i].name, "download_url": files + archives[i].name, "shasum": archives[i].sum,
		"shasums_url": files + "SHA256SUMS", "shasums_signature_url": files + "SHA256SUMS.sig",
		"signing_keys": map[string]any{"gpg_public_keys": []any{map[string]string{"key_id": s.key.PrimaryKey.KeyIdString(), "ascii_armor": s.armor}}},
	})
}

func (s *providerServers) serveFile(w http.ResponseWriter, r *http.Request, archives []providerArchive) {
	var sums bytes.Buffer
	for _, a := range archives {
		fmt.Fprintf(&sums, "%s  %s\n", a.sum, a.name)
	}
	switch file := r.PathValue("file"); file {
	case "SHA256SUMS":
		_, _ = w.Write(sums.Bytes()) // fails only if the client has disconnected
	case "SHA256SUMS.sig":
		if err := openpgp.DetachSign(w, s.key, &sums, nil); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	default:
		i := slices.IndexFunc(archives, func(a providerArchive) bool { return a.name == file })
		if i < 0 {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"`+archives[i].sum[:16]+`"`)
		http.ServeFile(w, r, archives[i].path)
	}
}

func answerJSON(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has disconnected
}

func (s *providerServers) WriteTree(dir, _ string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // it is no secret
		return err
	}
	return os.WriteFile(filepath.Join(dir, "main.tf"), []byte(providersConfig(s.host())), 0o600)
}
