//go:build race

package e2e_test

// raceEnabled: the program is built with the race detector, as the tests are.
const raceEnabled = true
