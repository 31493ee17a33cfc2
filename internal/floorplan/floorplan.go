// Package floorplan keeps the shape of the house: which package may import which.
//
// Every package stands on a floor, and imports of this module's packages point
// down. What a package is for is in its own doc; here is only where it stands.
// The tests read the imports of the source and fail on a package that is not
// placed, on an import that points up or sideways, and on a library that has one
// importer and found another.
package floorplan

// Floors places every package of the module, by its path below the module.
func Floors() map[string]int {
	return map[string]int{
		"internal/action": 0, "internal/target": 0, "internal/secret": 0, "internal/strictjson": 0,
		"internal/term": 0, "internal/peer": 0, "internal/sshfile": 0, "internal/sshconfig": 0,

		"vault": 1, "approval": 1, "journal": 1, "internal/contract": 1, "internal/drift": 1,
		"internal/policy": 1, "internal/mask": 1, "internal/watchlist": 1,

		"executor": 2, "approval/console": 2, "internal/ctl": 2, "internal/mcpclient": 2, "internal/publish": 2,

		"executor/httprun": 3, "executor/sshrun": 3, "executor/mcpserver": 3,

		"internal/daemon": 4,
		"internal/demo":   4,

		"internal/cli": 5,

		"cmd/executor": 6,
		"internal/e2e": 6,
	}
}

// Sideways lists the imports that are allowed between packages of one floor.
func Sideways() map[string][]string {
	return map[string][]string{
		"internal/action":  {"internal/strictjson"},
		"internal/sshfile": {"internal/secret"},
		"internal/demo":    {"internal/daemon"},
	}
}

// Sole maps a library to the one package that may import it.
func Sole() map[string]string {
	return map[string]string{
		"github.com/spf13/cobra": "internal/cli",
		"modernc.org/sqlite":     "journal",
		"filippo.io/age":         "vault",

		"github.com/aws/aws-sdk-go-v2":     "executor/httprun",
		"golang.org/x/oauth2":              "executor/httprun",
		"github.com/kevinburke/ssh_config": "internal/sshconfig",
		"github.com/pkg/sftp":              "executor/sshrun",
	}
}
