package sshrun

import (
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// A conn is a logged-in connection to a destination, with those of its jump hosts.
type conn struct {
	chain  []*ssh.Client // the destination last
	remote string
	dead   chan struct{} // closed when the destination's connection ended
	wg     sync.WaitGroup

	mu         sync.Mutex
	hostKey    string
	markerName string // that the server takes; markerUnknown before it was asked
}

func newConn() *conn { return &conn{dead: make(chan struct{}), markerName: markerUnknown} }

func (c *conn) client() *ssh.Client { return c.chain[len(c.chain)-1] }

// setHostKey keeps the fingerprint of the last hop's key, for the journal.
func (c *conn) setHostKey(key ssh.PublicKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hostKey = ssh.FingerprintSHA256(key)
}

func (c *conn) fingerprint() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hostKey
}

func (c *conn) marker() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.markerName
}

func (c *conn) setMarker(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.markerName = name
}

// watch notices the end of the connection.
func (c *conn) watch() {
	c.wg.Go(func() {
		c.client().Wait()
		close(c.dead)
	})
}

func (c *conn) isDead() bool {
	select {
	case <-c.dead:
		return true
	default:
		return false
	}
}

// close ends the connection and with it every goroutine in wg.
func (c *conn) close() {
	for i := len(c.chain) - 1; i >= 0; i-- {
		c.chain[i].Close()
	}
}

// ping asks the server for any answer and closes the connection if none comes in time.
func (c *conn) ping(limit time.Duration) bool {
	answered := make(chan error, 1)
	c.wg.Go(func() {
		_, _, err := c.client().SendRequest("keepalive@openssh.com", true, nil)
		answered <- err
	})
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-answered:
		if err == nil {
			return true
		}
	case <-c.dead:
	case <-timer.C:
	}
	c.close()
	return false
}
