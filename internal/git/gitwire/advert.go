package gitwire

import (
	"context"
	"strings"
)

// maxFeatures is in lines. Servers send fewer than ten.
const maxFeatures = 1000

// Features returns the features of a command that the server has, such as "filter" for "fetch".
func (c *Client) Features(ctx context.Context, command string) ([]string, error) {
	body, err := c.Transport.Advertisement(ctx)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return readFeatures(newPackets(body, nil), command)
}

// readFeatures reads lines with a capability, or a command, "=" and its features.
func readFeatures(p *packets, command string) ([]string, error) {
	if err := checkAdvert(p); err != nil {
		return nil, err
	}
	var features []string
	for range maxFeatures {
		kind, line, err := p.line()
		switch {
		case err != nil:
			return nil, early(err)
		case kind == flushPacket:
			return features, nil
		case kind != dataPacket:
			return nil, malformed("unexpected packet %04x in an advertisement", int(kind))
		}
		if value, ok := strings.CutPrefix(line, command+"="); ok {
			features = strings.Fields(value)
		}
	}
	return nil, malformed("an advertisement has over %d lines", maxFeatures)
}
