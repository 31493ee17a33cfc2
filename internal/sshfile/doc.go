// Package sshfile reads the SSH files that an operator hands over: private keys,
// user certificates and known_hosts. It touches no file itself.
//
// The threat is a key or a pin that is taken now and fails, or opens a door,
// later. A private key that was pasted through a web form, JSON or a Windows editor is
// mended to its one normal form or refused with one sentence that names the
// problem; what ParsePrivateKey returns has signed once and will sign again. Of a
// known_hosts file only the lines for one host count; damaged lines elsewhere are
// named and ignored, but a damaged @revoked line that covers the host refuses the
// whole, since ignoring it would trust what somebody revoked.
//
// # Private keys
//
// OpenSSH ("-----BEGIN OPENSSH PRIVATE KEY-----"), PKCS#1, SEC 1 and PKCS#8 PEM
// (RFC 7468) come in, with a passphrase or without; OpenSSH without a passphrase
// goes out. Ed25519, ECDSA and RSA are known. PuTTY files, FIDO keys, public keys and
// certificates are refused by name.
//
// # Certificates
//
// User certificates of OpenSSH (PROTOCOL.certkeys), as the line of a -cert.pub file:
//
//	ssh-ed25519-cert-v01@openssh.com AAAAIHNz… deploy@ci
//
// Their signature is checked, not whether the authority is trusted: servers judge that.
//
// # known_hosts
//
// The format of sshd(8), SSH_KNOWN_HOSTS FILE FORMAT. For the host 127.0.0.1:2222
//
//	[127.0.0.1]:2222 ssh-ed25519 AAAAC3Nz… a comment
//	|1|FXUN…|oEFK…= ssh-rsa AAAAB3Nz…
//	@cert-authority *.example.com,[127.0.0.1]:* ssh-ed25519 AAAAC3Nz…
//	@revoked * ssh-ed25519 AAAAC3Nz…
//
// becomes the pins
//
//	@cert-authority ssh-ed25519 AAAAC3Nz…
//	@revoked ssh-ed25519 AAAAC3Nz…
//	ssh-ed25519 AAAAC3Nz…
//	ssh-rsa AAAAB3Nz…
package sshfile
