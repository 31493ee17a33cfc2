// Package sshconfig reads an OpenSSH client configuration (ssh_config(5)) as far
// as it says how hosts are reached, so that an operator need not write it down twice.
//
// The threat is a host that is brought in otherwise than ssh reaches it: past its
// jump host, as another user, with another key. So what is not understood is never
// passed over in silence. A block under Match (other than "Match all") and an
// Include inside a Host block are left out and named; a host that needs a
// ProxyCommand, or a token that is not known here, is refused with that as the
// reason; other keywords that apply to a host and have no counterpart here are
// listed. No command of the file is ever run and no environment is read.
//
// # Example
//
//	Host bastion
//	    HostName bastion.example.com
//	    User jump
//	Host db-*
//	    ProxyJump bastion
//	Host db-1
//	    HostName 10.0.0.5
//	    IdentityFile ~/.ssh/db
//	    ForwardAgent yes
//
// gives for the alias db-1 the host 10.0.0.5, port 22, one jump by the alias
// bastion, the key file of that name, and forwardagent as ignored.
package sshconfig
