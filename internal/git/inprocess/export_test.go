package inprocess

import (
	"context"
	"net/url"

	"golang.org/x/crypto/ssh"
)

// Expand exports the method expand.
func (o *Objects) Expand(short string) (string, error) { return o.expand(short) }

// Login holds the settings for logging in to a host.
type Login struct {
	Address, KnownAs, User, AgentSocket string
	IdentityFiles                       []string
	IdentitiesOnly                      bool
}

// Login returns how s would log in to the host of an address.
func (s SSH) Login(ctx context.Context, u *url.URL) (Login, error) {
	h, err := s.hostOf(ctx, u)
	if err != nil {
		return Login{}, err
	}
	return Login{h.address, h.knownAs, h.user, h.agentSocket, h.identityFiles, h.identitiesOnly}, nil
}

// Offers returns the keys that s would offer to the host of an address.
func (s SSH) Offers(ctx context.Context, u *url.URL) ([]ssh.Signer, error) {
	h, err := s.hostOf(ctx, u)
	if err != nil {
		return nil, err
	}
	keys, err := newKeyRing(s, h)
	if err != nil {
		return nil, err
	}
	defer keys.close()
	return keys.signers(ctx), nil
}
