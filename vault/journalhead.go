package vault

// JournalHead returns the journal's size and root as the vault in cfg.Dir
// remembers them, for whoever verifies the journal: the vault is decrypted and
// its MAC checked, and the journal is not asked for anything. Errors to match:
// ErrMissing, ErrDamaged, ErrForged.
func JournalHead(cfg Config, keys *Keys) (size int64, root [32]byte, err error) {
	c, err := decode(cfg, keys)
	if err != nil {
		return 0, root, err
	}
	defer c.wipe()
	return c.head.size, c.head.root, nil
}
