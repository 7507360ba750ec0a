package gcs

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/url"

	"github.com/cotterpin/cotter/internal/httpx"
)

// maxPage bounds a page of a list. It has 1000 names of up to 1024 bytes, which
// may be six times as long when they are escaped.
const maxPage = 16 << 20

// page is as much of a page of a list as is asked for.
type page struct {
	Items []struct {
		Name string `json:"name"`
	} `json:"items"`
	Next string `json:"nextPageToken"`
}

// List yields the names of the objects that begin with the prefix, page by page.
func (b *bucket) List(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		query := url.Values{"prefix": {prefix}, "fields": {"items(name),nextPageToken"}}
		for {
			page, err := b.page(ctx, query)
			if err != nil {
				yield("", err)
				return
			}
			for _, item := range page.Items {
				if !yield(item.Name, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			query.Set("pageToken", page.Next)
		}
	}
}

func (b *bucket) page(ctx context.Context, query url.Values) (*page, error) {
	var got *page
	err := b.send(ctx, url.PathEscape(b.addr.bucket)+"/o?"+query.Encode(), func(answer *httpx.Response) error {
		text, err := answer.ReadAll(maxPage)
		if err != nil {
			return err
		}
		got = new(page)
		if err := json.Unmarshal(text, got); err != nil {
			return errors.New("the list of objects is not the JSON that is expected")
		}
		return nil
	})
	return got, err
}
