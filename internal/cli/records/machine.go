package records

import "github.com/cotterpin/cotter/internal/store"

// CacheDir is the output of cache dir.
type CacheDir struct {
	Dir string `json:"dir"`
}

// CacheUsage is the size of the cache, or of the part that cache clean has removed.
type CacheUsage struct {
	Packages     int   `json:"packages"`
	PackageBytes int64 `json:"package_bytes"`
	GitStores    int   `json:"git_stores"`
	GitBytes     int64 `json:"git_bytes"`
	Providers    int   `json:"providers"`
	ProviderSize int64 `json:"provider_bytes"`
	// Linked is the number of providers that projects of this user link to. In the output of
	// cache clean, it is the number of those that were kept for this reason.
	Linked     int   `json:"linked_providers"`
	LinkedSize int64 `json:"linked_bytes"`
	Quarantine int64 `json:"quarantine_bytes"`
	Bytes      int64 `json:"bytes"`
	// Projects are the projects of this user with such links. After cache clean --all they need
	// `cotter install`.
	Projects []store.Project `json:"projects"`
	// Foreign is the number of recorded projects that this user has not installed. They are not
	// looked at.
	Foreign int `json:"foreign_projects,omitempty"`
}

// CacheVerified is the output of cache verify.
type CacheVerified struct {
	// Damaged are the damaged packages, which were set aside.
	Damaged []string `json:"damaged"`
}

// CacheKey is the output of cache key.
type CacheKey struct {
	Key       string `json:"key"`
	Prefix    string `json:"prefix"`
	Platform  string `json:"platform"`
	Modules   int    `json:"modules"`
	Providers int    `json:"providers"`
}

// Finding is a fact that doctor has found.
type Finding struct {
	// Subject is the subject of the finding, such as "Hosts".
	Subject string `json:"subject"`
	// Level is "ok", "note" or "problem".
	Level   string `json:"level"`
	Message string `json:"message"`
}

// Doctor is the result of doctor.
type Doctor struct {
	Notes    int `json:"notes"`
	Problems int `json:"problems"`
}

// Version is the output of cotter --version --json.
type Version struct {
	Version  string `json:"version"`
	Platform string `json:"platform"`
}
