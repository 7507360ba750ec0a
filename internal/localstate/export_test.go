package localstate

var Parse = parse
