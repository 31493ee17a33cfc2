package floorplan_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"executor/internal/floorplan"
)

const module = "executor"

// imports maps each package of the module to what its non-test files import.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	walkSource(t, root, func(dir string, f *ast.File) {
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			out[dir] = append(out[dir], path)
		}
		if out[dir] == nil {
			out[dir] = []string{}
		}
	})
	if len(out) < 10 {
		t.Fatalf("only %d packages were found below %s: the walk is broken", len(out), root)
	}
	return out
}

func walkSource(t *testing.T, root string, visit func(dir string, f *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(dir), f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImportsPointDown(t *testing.T) {
	floors, sideways := floorplan.Floors(), floorplan.Sideways()
	for pkg, paths := range imports(t) {
		if pkg == "internal/floorplan" {
			continue
		}
		floor, ok := floors[pkg]
		if !ok {
			t.Errorf("%s stands on no floor: place it in Floors", pkg)
			continue
		}
		for _, path := range paths {
			dep, ours := strings.CutPrefix(path, module+"/")
			if !ours {
				continue
			}
			below, ok := floors[dep]
			if ok && (below < floor || below == floor && slices.Contains(sideways[pkg], dep)) {
				continue
			}
			t.Errorf("%s (floor %d) imports %s (floor %d): imports point down only", pkg, floor, dep, below)
		}
	}
}

func TestEveryFloorIsInhabited(t *testing.T) {
	found := imports(t)
	for pkg := range floorplan.Floors() {
		if _, ok := found[pkg]; !ok {
			t.Errorf("%s has a floor and no source", pkg)
		}
	}
}

func TestSoleImporters(t *testing.T) {
	for pkg, paths := range imports(t) {
		for library, owner := range floorplan.Sole() {
			for _, path := range paths {
				if (path == library || strings.HasPrefix(path, library+"/")) && pkg != owner {
					t.Errorf("%s imports %s, which belongs to %s alone", pkg, path, owner)
				}
			}
		}
	}
}

// TestNoGlobalsInTheCore keeps init functions and the environment out of
// everything below the command line.
func TestNoGlobalsInTheCore(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	walkSource(t, root, func(dir string, f *ast.File) {
		if dir == "internal/cli" || dir == "cmd/executor" {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.Name == "init" && n.Recv == nil {
					t.Errorf("%s has an init function", dir)
				}
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if ok && x.Name == "os" && slices.Contains([]string{"Getenv", "LookupEnv", "Environ", "Exit", "Args"}, n.Sel.Name) {
					t.Errorf("%s uses os.%s: only internal/cli may", dir, n.Sel.Name)
				}
				if ok && x.Name == "ssh" && n.Sel.Name == "InsecureIgnoreHostKey" {
					t.Errorf("%s uses ssh.InsecureIgnoreHostKey", dir)
				}
			}
			return true
		})
	})
}

func TestTopLevel(t *testing.T) {
	allowed := []string{"cmd", "vault", "executor", "journal", "approval", "internal", "go.mod", "go.sum", "README.md"}
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(allowed, e.Name()) {
			t.Errorf("%s does not belong to the top level", e.Name())
		}
	}
}
