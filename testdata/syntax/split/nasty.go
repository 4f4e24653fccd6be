// Package comment with { brace
package nasty

import (
	"fmt"
	str "strings"
)

// Doc of the constant
const (
	A = iota
	B
)

var raw = `raw " { text
func notAFunction() {`
var quote, brace = '\'', '{'
var fn = func(x int) int { return x + 1 }
var (
	m = map[string]struct{ a int }{"}": {1}}
)

type Struct struct {
	Field int `json:"field}"`
}
type Face interface{ Method() error }
type Func func(a int) (b string)
type Alias = map[string]func(int) bool

func (s *Struct) Method(a, b int) (err error) {
	defer func() { recover(); fmt.Println("a deferred function that is long enough") }()
	if x := f(); x > 1 { return nil } else { fmt.Println("an else block that is long enough, really") }
	switch s.Field { case 1: return nil; default: }
	for i := range xs { fmt.Println(Struct{Field: i}) }
	return nil // trailing }
}

func Generic[T any, K comparable](in map[K]T) []T { return nil }
func external(x int) int
func main() { fmt.Println("main") }

type Channel chan
func()
