package action

// Targets lists the hosts and bindings that an agent may use. It reaches
// nothing outside the program and needs no credential.
type Targets struct{}

// Kind returns "targets".
func (*Targets) Kind() string { return "targets" }

// Target returns "executor".
func (*Targets) Target() string { return "executor" }

// Cred returns nil.
func (*Targets) Cred() *Credential { return nil }

func (*Targets) sealed() {}

// MarshalJSON writes the form that the digest covers.
func (t *Targets) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		Format int    `json:"format"`
		Kind   string `json:"kind"`
	}{Format, t.Kind()})
}
