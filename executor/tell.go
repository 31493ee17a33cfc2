package executor

import (
	"executor/internal/mask"
	"fmt"
)

// recordable is what a refused call's arguments may show in the journal: they are
// masked, and withheld while the vault is locked and there is nothing to mask by.
func (w *work) recordable() string {
	set := w.masks()
	if set == nil {
		return fmt.Sprintf("[%d bytes not recorded: the vault is locked, they cannot be checked for secrets]", len(w.call.Arguments))
	}
	text, _ := set.String(string(w.call.Arguments), "")
	return text
}

// trouble tells the operator a cause that the agent does not get.
func (w *work) trouble(cause error) {
	if w.cfg.Trouble == nil || cause == nil {
		return
	}
	text := cause.Error()
	if set := w.masks(); set != nil {
		text, _ = set.String(text, "")
	} else {
		text = "the vault is locked, so the cause cannot be checked for secrets"
	}
	w.cfg.Trouble(fmt.Sprintf("activity %s: %s", w.record.ActivityID, text))
}

// masks is what text is masked by, nil while the vault is locked.
func (w *work) masks() *mask.Set {
	if w.mask != nil {
		return w.mask
	}
	_, set, err := w.cfg.Credentials.Current()
	if err != nil {
		return nil
	}
	return set
}

func (w *work) tell() {
	if w.cfg.Events != nil {
		w.cfg.Events(w.record)
	}
}
