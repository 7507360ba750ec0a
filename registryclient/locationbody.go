package registryclient

import "encoding/json"

// locationBody is the body of an answer with a location.
type locationBody struct {
	Location string `json:"location"`
	// UseRegistryCredentials, if it is there and not null, means that the
	// registry hosts the package (OpenTofu 1.12).
	UseRegistryCredentials *bool `json:"use_registry_credentials"`
}

// parseLocation reads the body of an answer with a location. Registries that
// were made for Terraform, which never reads it, send anything there. So what
// is not a JSON object is not an error, and leaves the header to say it. An
// object, however, is meant to be read: a wrong type in it is an error.
func parseLocation(body []byte) (locationBody, error) {
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return locationBody{}, nil
	}
	var said locationBody
	if err := decode(body, &said); err != nil {
		return locationBody{}, err
	}
	return said, nil
}
