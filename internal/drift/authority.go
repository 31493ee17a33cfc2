package drift

import "strings"

// authorityWord knows names of arguments that choose on whom, where or as whom
// something is done: what a standing approval may hang on.
func authorityWord(word string) bool {
	switch strings.TrimSuffix(word, "s") {
	case "host", "hostname", "server", "machine", "user", "username", "login", "account", "tenant", "env", "environment",
		"repository", "repo", "org", "organization", "organisation", "target", "scope", "role", "principal",
		"cluster", "confirm", "confirmed", "confirmation":
		return true
	}
	return false
}

// isAuthority looks at the noun of a name: targetHost and account_id, not user_agent.
func isAuthority(name string) bool {
	words := nameWords(name)
	for len(words) > 1 {
		switch words[len(words)-1] {
		case "id", "ids", "name", "names", "slug", "key", "url", "uri":
			words = words[:len(words)-1]
			continue
		}
		break
	}
	return len(words) > 0 && (authorityWord(words[len(words)-1]) || words[0] == "confirm")
}

func (w *walker) authorityAdded(path, name string) {
	if isAuthority(name) {
		w.add(Change{Rule: "auth-field-added", Path: path, Name: name})
	}
}

// authorityOpened fires where a fixed choice is no longer all there is.
func (w *walker) authorityOpened(path, name string, o, n *node) {
	if !isAuthority(name) {
		return
	}
	if ov := view(o); ov.hasEnum && !w.p.subset(conjOf(n), onlyEnum(ov)) {
		w.add(Change{Rule: "auth-target-widened", Path: path, Name: name, Before: ov.enum})
	}
}
