package localstate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

var errUnknown = errors.New("the state is not one of version 4")

var errEmpty = errors.New("the state file is empty")

type resource struct {
	Module   string `json:"module"`
	Type     string `json:"type"`
	Name     string `json:"name"`
	Provider string `json:"provider"`
}

// parse returns the providers of the resources in a state. It keeps only one resource at a time
// in memory. The error wraps [ErrLegacyProvider], is errEmpty or errUnknown, or is the error of
// reading from.
func parse(from io.Reader, parser addrs.Parser) ([]addrs.Provider, error) {
	s := &state{json: json.NewDecoder(from), parser: parser}
	err := s.parse()
	_, unreadable := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, errEmpty), unreadable:
		return nil, err
	case err != nil || s.version != 4:
		return nil, errUnknown
	case s.wrong != nil:
		return nil, s.wrong
	}
	return s.found, nil
}

type state struct {
	json    *json.Decoder
	parser  addrs.Parser
	version int
	found   []addrs.Provider
	// wrong is the first error about a resource. It counts only if the whole text is a state.
	wrong error
}

// parse reads the state to its end. Like encoding/json, it ignores the case of keys.
func (s *state) parse() error {
	start, err := s.json.Token()
	switch {
	case errors.Is(err, io.EOF):
		return errEmpty
	case err != nil || start != json.Delim('{'):
		return errors.Join(errUnknown, err)
	}
	for s.json.More() {
		key, err := s.json.Token()
		if err != nil {
			return err
		}
		switch name, _ := key.(string); {
		case strings.EqualFold(name, "version"):
			err = s.json.Decode(&s.version)
		case strings.EqualFold(name, "resources"):
			err = s.parseResources()
		default:
			var other json.RawMessage
			err = s.json.Decode(&other)
		}
		if err != nil {
			return err
		}
	}
	if _, err := s.json.Token(); err != nil { // the end of the object
		return err
	}
	if _, err := s.json.Token(); !errors.Is(err, io.EOF) {
		return errors.Join(errUnknown, err)
	}
	return nil
}

func (s *state) parseResources() error {
	start, err := s.json.Token()
	switch {
	case err != nil || start == nil: // null
		return err
	case start != json.Delim('['):
		return errUnknown
	}
	for s.json.More() {
		var r resource
		if err := s.json.Decode(&r); err != nil {
			return err
		}
		if s.wrong == nil {
			s.wrong = s.add(r)
		}
	}
	_, err = s.json.Token() // the end of the list
	return err
}

func (s *state) add(r resource) error {
	_, quoted, isNew := strings.Cut(r.Provider, `provider["`)
	address, _, closed := strings.Cut(quoted, `"]`)
	provider, err := s.parser.ParseProviderSource(address)
	_, _, isOld := strings.Cut("."+r.Provider, ".provider.")
	switch {
	case isNew && closed && err == nil && provider.IsLegacy(), isOld && !isNew:
		return fmt.Errorf("%w: resource %q has %q", ErrLegacyProvider, strings.TrimPrefix(r.Module+"."+r.Type+"."+r.Name, "."), r.Provider)
	case !closed || err != nil:
		return errUnknown
	case !s.parser.IsBuiltIn(provider) && !slices.Contains(s.found, provider):
		s.found = append(s.found, provider)
	}
	return nil
}
