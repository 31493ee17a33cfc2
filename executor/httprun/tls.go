package httprun

import (
	"crypto/tls"
	"crypto/x509"

	"executor/executor"
	"executor/internal/action"
	"executor/internal/policy"
)

// tlsConfig is the TLS policy that k names, from the credential's own files. The
// token endpoint may be signed by the private CA or by the system's roots, shows
// no client certificate, and is always verified.
func tlsConfig(cfg Config, k poolKey, l *executor.Lease) (*tls.Config, error) {
	out := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.Roots, InsecureSkipVerify: k.tls.SkipVerify}
	if k.tls == (action.TLS{}) {
		return out, nil
	}
	if k.tls.CA != "" {
		pool := x509.NewCertPool()
		if k.token {
			if pool = cfg.Roots.Clone(); cfg.Roots == nil {
				var err error
				if pool, err = x509.SystemCertPool(); err != nil {
					return nil, internal("the system's certificates could not be read")
				}
			}
		}
		if !pool.AppendCertsFromPEM([]byte(l.Meta.CA)) {
			return nil, internal("the credential's CA holds no certificate")
		}
		out.RootCAs = pool
	}
	if k.tls.ClientCert != "" {
		pair, err := clientPair(l)
		if err != nil {
			return nil, err
		}
		out.Certificates = []tls.Certificate{pair}
	}
	return out, nil
}

// clientPair joins certificate and key. The key lives as long as the pool.
func clientPair(l *executor.Lease) (pair tls.Certificate, err error) {
	err = l.Secret.Use(func(key []byte) error {
		pair, err = policy.ClientCertificate(l.Meta.Cert, key)
		return err
	})
	if err != nil {
		return tls.Certificate{}, internal("credential " + l.Meta.Name + ": " + "its certificate and key could not be used; give both again with: executor credential rotate")
	}
	return pair, nil
}
