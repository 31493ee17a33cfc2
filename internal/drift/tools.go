package drift

// servers compares what is said of the server as a whole, where both snapshots
// are more than a bare list of tools.
func (d *differ) servers(old, new *Snapshot) {
	if old.bare() || new.bare() {
		return
	}
	if a, b := old.Instructions(), new.Instructions(); a != b {
		d.add(Change{Rule: "server-instructions-changed", Path: "instructions", Before: a, After: b})
		d.scanText("", "instructions", b, newSeen(map[string]any{"instructions": a}))
	}
	if announces(old) && !announces(new) {
		d.add(Change{Rule: "list-changed-capability-removed", Path: "capabilities.tools.listChanged", Before: true})
	}
}

func (s *Snapshot) bare() bool {
	return s.fields["server"] == nil && s.fields["instructions"] == nil && s.fields["capabilities"] == nil
}

func announces(s *Snapshot) bool {
	caps, _ := s.fields["capabilities"].(map[string]any)
	tools, _ := caps["tools"].(map[string]any)
	on, _ := tools["listChanged"].(bool)
	return on
}

// tools pairs the two lists by name.
func (d *differ) tools(old, new *Snapshot) {
	before, after := byName(old), byName(new)
	names := namesOf(old, new)
	var gone, more []*Tool
	for _, name := range sortedKeys(joined(before, after)) {
		a, b := before[name], after[name]
		d.duplicates(name, a, b)
		switch {
		case len(a) == 0:
			more = append(more, b[0])
			d.toolAdded(b[0], names)
		case len(b) == 0:
			gone = append(gone, a[0])
			d.add(Change{Tool: name, Rule: "tool-removed", Path: name, Name: name})
		default:
			d.tool(a[0], closest(a[0], b), names)
		}
	}
	d.renamedTools(gone, more)
}

func byName(s *Snapshot) map[string][]*Tool {
	out := map[string][]*Tool{}
	for _, t := range s.Tools {
		out[t.Name] = append(out[t.Name], t)
	}
	return out
}

// closest is the tool that did not change, or the first.
func closest(a *Tool, b []*Tool) *Tool {
	for _, t := range b {
		if t.SurfaceHash() == a.SurfaceHash() {
			return t
		}
	}
	return b[0]
}

// duplicates reports a name that means two tools: which one a client calls is anyone's guess.
func (d *differ) duplicates(name string, a, b []*Tool) {
	if len(b) > 1 && !sameTools(a, b) || len(a) > 1 && len(b) == 1 {
		d.add(Change{Tool: name, Rule: "tool-duplicate-name", Path: name, Name: name, Before: len(a), After: len(b)})
	}
}

func sameTools(a, b []*Tool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].SurfaceHash() != b[i].SurfaceHash() {
			return false
		}
	}
	return true
}

func (d *differ) toolAdded(t *Tool, names map[string]string) {
	d.add(Change{Tool: t.Name, Rule: "tool-added", Path: t.Name, Name: t.Name})
	if !hostName(t.Name, false) {
		d.add(Change{Tool: t.Name, Rule: "host-name-charset", Path: t.Name, Name: t.Name})
	}
	d.homoglyph(t.Name, t.Name, t.Name, names)
	d.scan(t, nil, names)
	d.newSchema(t, "inputSchema", Input)
	d.newSchema(t, "outputSchema", Output)
}

// newSchema looks at a schema that was not there before: nothing can break, but
// a host may choke on it and a pointer may lead out.
func (d *differ) newSchema(t *Tool, field string, side Side) {
	raw, ok := t.fields[field]
	if !ok {
		return
	}
	path := t.Name + "." + field
	for _, ref := range externalRefs(raw) {
		d.add(Change{Tool: t.Name, Rule: "schema-ref-external", Path: path + ref.path + ".$ref", After: ref.text, Security: true, Level: "error"})
	}
	doc, err := load(raw, d.opt.Limits)
	if err != nil {
		d.tooComplex(t.Name, path)
		return
	}
	if side == Output {
		if !admitsError(doc.root, true) {
			d.add(Change{Tool: t.Name, Rule: "out-error-envelope-missing", Path: path})
		}
		return
	}
	for _, c := range hostTrouble(doc, path) {
		c.Tool = t.Name
		d.add(c)
	}
}

// renamedTools pairs removed with added tools of the same contract.
func (d *differ) renamedTools(gone, more []*Tool) {
	taken := map[string]bool{}
	for _, a := range gone {
		for _, b := range more {
			if taken[b.Name] || a.ContractHash() != b.ContractHash() {
				continue
			}
			taken[b.Name] = true
			d.add(Change{Tool: a.Name, Rule: "tool-rename-suspected", Path: a.Name, Name: b.Name, Hint: a.Name + " -> " + b.Name})
			break
		}
	}
}

// tool compares two tools of one name.
func (d *differ) tool(a, b *Tool, names map[string]string) {
	if a.SurfaceHash() == b.SurfaceHash() {
		d.unmoved(b)
		return
	}
	start := len(d.out)
	d.text(a, b, "title", "tool-title-changed")
	d.text(a, b, "description", "tool-description-changed")
	d.text(a, b, "icons", "tool-icons-changed")
	d.meta(a, b)
	d.taskSupport(a, b)
	d.annotations(a, b)
	d.schemas(a.Name, a.Name+".inputSchema", Input, schemaOf(a, "inputSchema"), schemaOf(b, "inputSchema"),
		a.schemas["inputSchema"] == b.schemas["inputSchema"])
	d.output(a, b)
	d.revisions(a, b, d.out[start:])
	d.scan(b, a, names)
}

func schemaOf(t *Tool, field string) any {
	if v, ok := t.fields[field]; ok {
		return v
	}
	return true
}

// unmoved reports the one thing that an equal text does not settle.
func (d *differ) unmoved(t *Tool) {
	for _, field := range []string{"inputSchema", "outputSchema"} {
		v := t.fields[field]
		d.schemas(t.Name, t.Name+"."+field, Input, v, v, true)
	}
}

func (d *differ) output(a, b *Tool) {
	path := a.Name + ".outputSchema"
	o, had := a.fields["outputSchema"]
	n, has := b.fields["outputSchema"]
	switch {
	case had && !has:
		d.add(Change{Tool: a.Name, Rule: "out-schema-removed", Path: path, Before: o})
	case has && !had:
		d.add(Change{Tool: a.Name, Rule: "out-schema-added", Path: path, After: n})
		d.newSchema(b, "outputSchema", Output)
	case has:
		d.schemas(a.Name, path, Output, o, n, a.schemas["outputSchema"] == b.schemas["outputSchema"])
	}
}
