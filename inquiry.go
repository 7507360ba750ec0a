package cotter

import (
	"context"
	"errors"

	"github.com/cotterpin/cotter/internal/origins"
)

// inquiry is a run that asks origins about a project and changes nothing.
type inquiry struct {
	*openProject
	session *session
	origins *origins.Origins
	events  *events
	done    func()
}

// openToAsk opens a project for a run that asks origins. The inquiry must be closed.
func (in *Installer) openToAsk(ctx context.Context, req Request) (*inquiry, error) {
	p, err := in.view(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := p.readRules(); err != nil {
		return nil, errors.Join(err, p.close())
	}
	session, done, err := in.sharedSession(p.key)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	events := &events{fn: in.OnEvent}
	return &inquiry{openProject: p, session: session, origins: session.originsFor(p, events), events: events, done: done}, nil
}

// close ends the run.
func (q *inquiry) close() error {
	q.done()
	return q.openProject.close()
}

// newSelector returns a selector of the versions that origins offer.
func (q *inquiry) newSelector() *selector {
	return &selector{origins: q.origins, events: q.events, lock: q.lock}
}
