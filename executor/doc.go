// Package executor is the pipeline: one call of an agent, from the arguments it
// sent to the result it gets.
//
// call.go reads from top to bottom and nothing else does any of it: admit,
// snapshot, resolve, normalize, decide, approve, intend, execute, settle, reply.
// What a call was judged by is read once; what was shown to the operator is what
// runs; nothing runs before the intent is durable in the journal; and nothing
// that comes back reaches the agent unmasked.
//
// It refuses whatever it cannot judge: unknown arguments, blocked addresses, a
// credential that is not bound to the target, a call that nobody can approve, a
// journal that cannot be written. A refusal names what was wrong and what would be
// right, and has no effect. The threat it answers is an agent that errs or is
// misled: its words and names are claims, and its arguments can never lower the
// approval that an action needs. What can is the operator's rule, and only for what
// it names; the decision in the journal then names the rule and its scope.
//
// The pipeline declares the small interfaces that it needs (Credentials,
// Approver, Journal, Runner); transports such as executor/mcpserver call it, and
// runners such as executor/httprun are called by it.
package executor
