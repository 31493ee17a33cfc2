// Package drift tells what changed between two tools/list snapshots of an MCP
// server, and whether calls built on the old one still hold.
//
// The threat: tool schemas change under running agents and nothing fails at
// deploy time. A call is refused, or passes and does something else, or a
// description comes to steer the model. The package answers with rules that have
// stable ids, and with one promise: what it calls compatible it has proved.
// Everything that it cannot prove is for a person. It never fetches a $ref,
// never runs a server, and treats every text as hostile.
//
// # How it decides
//
// On the input side every old argument must still be accepted: old ⊆ new. On the
// output side every new result must have been possible: new ⊆ old. Two parts
// look at this. The walker goes over both schemas place by place and names what
// changed; its rules say what a change means to people (a removed property of an
// open object breaks although every old call still validates). The prover shows
// inclusion for whatever the rules left open, by induction on the instance, and
// what it cannot show becomes in-subset-unproven or out-subset-unproven. The walker
// may be as clever as it likes: soundness rests on the prover alone.
//
// One thing is compatible by rule and not by proof: a new optional property of an
// open object types a key that was untyped. The profile Strict asks a person
// there, too. Formats are compared as if they were enforced; regular expressions
// are equal or not comparable.
//
// What no comparison sees: another meaning, order, unit, namespace or authority
// behind the same schema. An empty report says so.
//
// # Dialects
//
// JSON Schema 2020-12 (the default, MCP specification 2025-11-25 and later),
// 2019-09 and draft-07. Under any other $schema only equality counts. So it does
// where unevaluatedProperties, unevaluatedItems or dynamic references occur.
// Depth, number of subschemas and steps are bounded (Limits); what goes beyond is
// schema-too-complex. No clock takes part.
//
// # Snapshot files
//
// A snapshot is plain JSON, a superset of a tools/list result with all pages in one:
//
//	{
//	  "capabilities": {"tools": {"listChanged": true}},
//	  "instructions": "Use search before open.",
//	  "server": {"name": "tickets", "version": "3.1.0"},
//	  "tools": [
//	    {
//	      "description": "Open a ticket.",
//	      "inputSchema": {"properties": {"title": {"type": "string"}}, "required": ["title"], "type": "object"},
//	      "name": "open_ticket"
//	    }
//	  ]
//	}
//
// Only tools is required. Parse takes a bare array and a JSON-RPC response as
// well, and refuses duplicate keys and lone surrogates. The canonical form is RFC
// 8785 with tools sorted by name and with required, enum and type arrays sorted as
// sets; numbers that are no IEEE double keep their digits. Two SHA-256 hashes are
// taken of it, for each tool and for the whole: the contract hash over schemas and
// annotations, and the surface hash over everything a model reads. For the file
// above without server and capabilities, see the example of Parse.
//
// # Paths
//
// search_issues.inputSchema.properties.query.maxLength: the tool, the field, and
// the keywords down to the place, joined by points. References are resolved and
// named in Change.Via, not in the path.
package drift
