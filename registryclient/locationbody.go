package registryclient

import "encoding/json"

// locationBody is the body of an answer with a location.
type locationBody struct {
	Location string `json:"location"`
	// UseRegistryCredentials, if it is there and not null, means that the
	// registry hosts the package (OpenTofu 1.12).
	UseRegistryCredentials *bool `json:"use_registry_credentials"`
}

// parseLocation parses the body of an answer with a location. Registries that
// were made for Terraform, which never reads it, send anything there. So notObject,
// which says why the body is not a JSON object, is only an error if there is no
// location in the header either. An object, however, is meant to be read: a wrong
// type in it is an error.
func parseLocation(body []byte) (said locationBody, notObject, err error) {
	var object map[string]json.RawMessage
	if notObject := decode(body, &object); notObject != nil || object == nil {
		return locationBody{}, notObject, nil
	}
	err = decode(body, &said)
	return said, nil, err
}
