package httprun

import (
	"crypto/tls"
	"net/http"
	"sync"
	"time"

	"executor/executor"
	"executor/internal/action"
)

const (
	maxHeaderBytes   = 256 << 10
	handshakeTimeout = 15 * time.Second
	idlePerHost      = 32
)

// A poolKey separates connections that must not be shared: another credential
// version, TLS policy, or right to reach private addresses.
type poolKey struct {
	credential string
	version    int
	tls        action.TLS
	private    bool
	mode       mode
	token      bool // for the token endpoint, not the target
}

func keyOf(h *action.HTTP) poolKey {
	k := poolKey{tls: h.TLS, private: h.Address.Private, mode: modeOf(h)}
	if h.Credential != nil {
		k.credential, k.version = h.Credential.Name, h.Credential.Version
	}
	return k
}

// tokenPoolKey is the pool for the token endpoint, which is always verified.
func tokenPoolKey(h *action.HTTP) poolKey {
	k := keyOf(h)
	k.tls.ClientCert, k.tls.SkipVerify, k.mode, k.token = "", false, anyProtocol, true
	return k
}

type pool struct {
	transport *http.Transport
	used      uint64 // pools.clock at the last use
}

type pools struct {
	cfg   Config
	mu    sync.Mutex
	clock uint64
	open  map[poolKey]*pool
}

// get returns the pool for k, made with the credential of the lease if there is none.
func (ps *pools) get(k poolKey, l *executor.Lease) (*pool, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.clock++
	p := ps.open[k]
	if p == nil {
		if len(ps.open) >= ps.cfg.MaxPools {
			ps.dropOldest()
		}
		config, err := tlsConfig(ps.cfg, k, l)
		if err != nil {
			return nil, err
		}
		p = &pool{transport: newTransport(ps.cfg, k, config)}
		ps.open[k] = p
	}
	p.used = ps.clock
	return p, nil
}

func (ps *pools) dropOldest() {
	var oldest poolKey
	least := ps.clock
	for k, p := range ps.open {
		if p.used < least {
			oldest, least = k, p.used
		}
	}
	ps.open[oldest].transport.CloseIdleConnections()
	delete(ps.open, oldest)
}

func (ps *pools) close() {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, p := range ps.open {
		p.transport.CloseIdleConnections()
	}
	clear(ps.open)
}

func newTransport(cfg Config, k poolKey, config *tls.Config) *http.Transport {
	d := &dialer{resolver: cfg.Resolver, dialer: cfg.Dialer, private: k.private}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(k.mode == anyProtocol)
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            d.dial,
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    handshakeTimeout,
		Protocols:              protocols,
		DisableCompression:     true,
		DisableKeepAlives:      k.mode == http1Once,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        cfg.Idle,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}
