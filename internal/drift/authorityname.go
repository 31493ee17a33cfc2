package drift

// IsAuthority reports whether an argument of that name chooses on whom, where or as
// whom something is done (host, account, environment, confirmation, …), so that no
// program may fill it in by itself.
func IsAuthority(name string) bool { return isAuthority(name) }
