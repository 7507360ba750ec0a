package signing

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

// decide returns the signer of the best verdict, or the most informative error. A good signature
// does not count if another copy of its key is revoked, and a weak signature counts only if there
// is no strong one.
func decide(all []verdict, opts Options, unread error, signatures [][]byte, offered int) (Signer, error) {
	revoked := make(map[string]bool)
	for _, v := range all {
		if errors.Is(v.err, ErrRevoked) {
			revoked[v.signer.Fingerprint] = true
		}
	}
	for _, accepted := range []struct {
		err    error
		isWeak bool
	}{{nil, false}, {ErrExpired, false}, {nil, true}, {ErrExpired, true}} {
		for _, v := range all {
			if !errors.Is(v.err, accepted.err) || (v.signer.Weak != "") != accepted.isWeak ||
				revoked[v.signer.Fingerprint] || v.err != nil && opts.RefuseExpired {
				continue
			}
			if v.err != nil {
				v.signer.Warnings = append(v.signer.Warnings, fmt.Sprintf("signed by the key %s: %s", v.signer.KeyID, v.reason))
			}
			return v.signer, nil
		}
	}
	for _, kind := range []error{ErrRevoked, ErrExpired, ErrWeak, ErrInvalid} {
		for _, v := range all {
			if errors.Is(v.err, kind) {
				return Signer{}, &Error{Err: kind, KeyID: v.signer.KeyID, Reason: v.reason}
			}
		}
	}
	return Signer{}, unknown(signatures, offered, unread)
}

// unknown returns the error for signatures by keys that are not among the offered keys.
func unknown(signatures [][]byte, offered int, unread error) *Error {
	e := &Error{Err: ErrUnknownKey, Reason: fmt.Sprintf("%d keys are offered", offered)}
	if offered == 1 {
		e.Reason = "1 key is offered"
	}
	if unread != nil {
		e.Reason += "; " + unread.Error()
	}
	for _, one := range signatures {
		parsed, err := packet.Read(bytes.NewReader(one))
		if err != nil {
			e.Err, e.Reason = ErrInvalid, err.Error()
			continue
		}
		if s, ok := parsed.(*packet.Signature); ok && s.IssuerKeyId != nil {
			e.KeyID = fmt.Sprintf("%016X", *s.IssuerKeyId)
		}
	}
	return e
}
