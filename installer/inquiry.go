package installer

import (
	"context"

	"github.com/cotterpin/cotter/internal/store/origins"
)

// inquiry is a run that asks origins about a project and changes nothing.
type inquiry struct {
	*reading
	pool    *pool
	origins *origins.Origins
	done    func()
}

// openToAsk opens a project for a run that asks origins, with the returned context. The inquiry must be closed.
func openToAsk(ctx context.Context, in *Installer, req request) (context.Context, *inquiry, error) {
	r, err := openToRead(ctx, in, req)
	if err != nil {
		return nil, nil, err
	}
	if err := r.readRules(); err != nil {
		return nil, nil, join(err, r.close())
	}
	ctx, pool, done, err := r.clients.pool(ctx, r.user)
	if err != nil {
		return nil, nil, join(err, r.close())
	}
	ctx = r.clients.withNamedHosts(ctx, r.openProject)
	return ctx, &inquiry{reading: r, pool: pool, origins: pool.originsFor(r.openProject, r.events), done: done}, nil
}

func (q *inquiry) close() error {
	q.done()
	return q.openProject.close()
}

func (q *inquiry) newSelector() *selector {
	return &selector{origins: q.origins, events: q.events, lock: q.Lock}
}
