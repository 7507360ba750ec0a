package getproviders

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/process/singleflight"
	"github.com/cotterpin/cotter/internal/provider/signing"
	"github.com/cotterpin/cotter/registryclient"
)

// AuthenticationError is returned if a registry does not prove a package: without a key, with a bad
// signature, or with another sum in the signed document.
type AuthenticationError struct {
	// Location is the failed document, without credentials; "" if the caller has downloaded it.
	Location string
	Err      error
}

func (e *AuthenticationError) Error() string {
	if e.Location == "" {
		return fmt.Sprint(e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Location, e.Err)
}

func (e *AuthenticationError) Unwrap() error { return e.Err }

// Authenticate checks the signature of the document of sums, and then the announced sum of the archive.
func (p *directPackage) Authenticate(ctx context.Context) (Authentication, error) {
	isSigned := len(p.found.Keys) > 0 || !p.isTrusted()
	if isSigned && len(p.found.Keys) == 0 {
		_, err := signing.Check(nil, nil, nil, signing.Options{})
		return Authentication{}, &AuthenticationError{Location: addrs.Redact(p.found.SumsURL), Err: err}
	}
	var document, signature []byte
	group, fetchCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		document, err = p.document(p.limited(fetchCtx, p.found.SumsURL), p.found.SumsURL, signing.MaxSums)
		return err
	})
	if isSigned {
		group.Go(func() (err error) {
			signature, err = p.document(p.limited(fetchCtx, p.found.SignatureURL), p.found.SignatureURL, signing.MaxSignature)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Authentication{}, err
	}
	auth := Authentication{Evidence: evidence.Evidence{Kind: evidence.Origin}}
	if isSigned {
		var err error
		if auth, err = p.checkSignature(document, signature, p.found.Keys, addrs.Redact(p.found.SignatureURL)); err != nil {
			return Authentication{}, err
		}
	}
	sums := signing.ParseSums(document)
	if err := sums.Check(p.found.Filename, p.found.Sum); err != nil {
		return Authentication{}, &AuthenticationError{Location: addrs.Redact(p.found.SumsURL), Err: err}
	}
	auth.Hashes, auth.Own = p.hashes(sums.All())
	return auth, nil
}

// VerifySums checks the signature of a document of sums that the caller has downloaded, with the keys of
// the provider's registry, by AllowWeakSignatures and RefuseExpired. Hashes are the zh in each line, unless
// a line is malformed; the caller compares the archive. The error is an *[AuthenticationError].
func (d *Direct) VerifySums(document, signature []byte, keys []registryclient.SigningKey) (Authentication, error) {
	auth, err := d.checkSignature(document, signature, keys, "")
	if err != nil {
		return Authentication{}, err
	}
	for _, sum := range signing.ParseSums(document).All() {
		auth.Hashes = append(auth.Hashes, hashing.Hash("zh:"+sum))
	}
	return auth, nil
}

func (d *Direct) checkSignature(document, signature []byte, keys []registryclient.SigningKey, location string) (Authentication, error) {
	var offered []signing.Key
	for _, key := range keys {
		offered = append(offered, signing.Key{ID: key.ID, Armor: key.Armor})
	}
	signer, err := signing.Check(document, signature, offered, signing.Options{AllowWeak: d.AllowWeakSignatures, RefuseExpired: d.RefuseExpired})
	if err != nil {
		return Authentication{}, &AuthenticationError{Location: location, Err: err}
	}
	auth := Authentication{Evidence: signedBy(signer), KeyID: signer.KeyID, Key: signer.Name, Warnings: signer.Warnings}
	if signer.Weak != "" {
		weak := &signing.Error{Err: signing.ErrWeak, KeyID: signer.KeyID, Reason: signer.Weak}
		auth.Weak = (&AuthenticationError{Location: location, Err: weak}).Error()
	}
	return auth, nil
}

func signedBy(signer signing.Signer) evidence.Evidence {
	e := evidence.Evidence{Kind: evidence.Signature, By: signer.KeyID}
	if signer.Name != "" {
		e.By += " (" + signer.Name + ")"
	}
	return e
}

// hashes returns what the registry confirms, and the part for this package, both sorted: the sums of the
// document, and what a trusted registry reports.
func (p *directPackage) hashes(sums []string) (all, own []hashing.Hash) {
	own = []hashing.Hash{p.archive}
	for _, sum := range sums {
		all = append(all, hashing.Hash("zh:"+sum))
	}
	if p.isTrusted() {
		for platform, reported := range p.found.Packages {
			for _, h := range reported.Hashes {
				if all = append(all, hashing.Hash(h)); platform == p.found.Platform {
					own = append(own, hashing.Hash(h))
				}
			}
		}
	}
	return sorted(append(all, own...)), sorted(own)
}

func sorted(hashes []hashing.Hash) []hashing.Hash {
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// document requests a document of at most limit bytes.
func (d *Direct) document(ctx context.Context, at string, limit int64) ([]byte, error) {
	return singleflight.For(ctx, &d.documents).Do(ctx, httpx.Share(ctx, at), func(ctx context.Context) ([]byte, error) {
		req, err := newRequest(ctx, at)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", addrs.Redact(at), err)
		}
		client := d.client()
		client.AttemptTimeout = httpx.TimeoutOf(d.HTTPClient)
		var text []byte
		err = client.Do(req, func(answer *httpx.Response) (err error) {
			text, err = answer.ReadAll(limit)
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", addrs.Redact(at), refused(LoginNone, err))
		}
		if err := packagelimits.DiskOf(ctx).List(packagelimits.Values(len(text))); err != nil {
			return nil, fmt.Errorf("%s: %w", addrs.Redact(at), err)
		}
		return text, nil
	})
}

// newRequest has only the credentials in the URL, and asks for no content encoding, because sums are of the
// stored bytes.
func newRequest(ctx context.Context, at string) (*http.Request, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	user := u.User
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	if password, ok := user.Password(); ok || user.Username() != "" {
		req.SetBasicAuth(user.Username(), password)
	}
	return req, nil
}
