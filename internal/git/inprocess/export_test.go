package inprocess

// Expand is the method of the same name.
func (o *Objects) Expand(short string) (string, error) { return o.expand(short) }
