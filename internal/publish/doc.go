// Package publish judges a contract file before it is sealed: what changes for the
// calls that agents built on the revisions before it.
//
// The threat: an operator changes a tool while agents hold its old description, and
// an old call goes on to do something else. Judge refuses a file under which an old
// call would silently mean another act, and says which declaration would make it
// acceptable. It seals nothing; Report.Op is what the caller stores.
//
// # The kind of change
//
// The stricter of the file's own claim and of what is found against the newest
// revision counts:
//
//	found                                                         at least
//	compatible                                                    additive
//	wording: descriptions, titles, claimed hints                  additive, after a yes of a person
//	input or output breaking; default, format, pattern; unproven  migration
//	another target, method, host, credential; a lower approval
//	level; an auth-* rule; an old call that renders otherwise     fence
//
// # Meaning is checked
//
// For each earlier revision whose calls would be accepted, old arguments are
// generated from its input schema (enum values, bounds, absent optionals, defaults,
// hostile strings; always the same ones) and rendered by the old contract and,
// adapted, by the new one. The canonical drafts must be equal: everything of a
// contract that enters an action, with the URL normalized. One counterexample
// refuses the file. "proved" is said only where the new template, with the steps
// put in, is the old one, and the differ proved that every old argument still fits;
// otherwise it is "tested on N".
//
// The same arguments are rendered unadapted by the new contract, for every earlier
// revision: where one fits and makes another act, an old call could be taken for a
// new one, and declare_revision is due.
//
// The claim is: the same bytes to the same named credential and host. That the
// downstream still means the same by them cannot be seen here.
package publish
