package action

// Operations of a File.
const (
	ReadFile  = "read"
	WriteFile = "write"
	ListDir   = "list"
)

// File is one file operation on one host, by SFTP.
type File struct {
	// Operation is ReadFile, WriteFile or ListDir.
	Operation string
	// Host is the operator's name for the destination.
	Host string
	// Hops lead to it: jump hosts first, the destination last. Never empty.
	Hops []Hop
	// Path is absolute, in its one spelling, byte for byte as the server gets it.
	// What the server makes of it (a link on the way) cannot be seen here.
	Path string
	// Mode, Overwrite, Expected and Content belong to WriteFile. Mode is four octal digits, or
	// "" for that of the file which is replaced. Overwrite replaces a file whose
	// content has the SHA-256 Expected ("sha256:" and hex) and no other; without
	// it nothing may be there.
	Mode      string
	Overwrite bool
	Expected  string
	Content   Blob
	// Entries is how many names of a directory go to the agent.
	Entries int
	Limits  Limits
}

// Kind returns "sftp".
func (*File) Kind() string { return "sftp" }

// Target returns "ssh://" and the host's name.
func (f *File) Target() string { return "ssh://" + f.Host }

// Cred returns the credential of the destination.
func (f *File) Cred() *Credential { return lastCred(f.Hops) }

// Route returns the hops.
func (f *File) Route() []Hop { return f.Hops }

// Reads reports whether the operation changes nothing.
func (f *File) Reads() bool { return f.Operation == ReadFile || f.Operation == ListDir }

func (*File) sealed() {}

// MarshalJSON writes the form that the digest covers.
func (f *File) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		Content   Blob   `json:"content"`
		Expected  string `json:"expected_sha256"`
		Format    int    `json:"format"`
		Hops      []Hop  `json:"hops"`
		Host      string `json:"host"`
		Kind      string `json:"kind"`
		Limits    limits `json:"limits"`
		Entries   int    `json:"max_entries"`
		Mode      string `json:"mode"`
		Operation string `json:"operation"`
		Overwrite bool   `json:"overwrite"`
		Path      string `json:"path"`
	}{f.Content, f.Expected, Format, nonNil(f.Hops), f.Host, f.Kind(), f.Limits.canonical(), f.Entries,
		f.Mode, f.Operation, f.Overwrite, f.Path})
}

func lastCred(hops []Hop) *Credential {
	if len(hops) == 0 {
		return nil
	}
	return hops[len(hops)-1].Credential
}
