// Package store keeps small records in memory and on disk.
package store

import (
	"context"
	"errors"
	"fmt"
	str "strings"
	"sync"
)

/* Limits of a store. */
const (
	MaxKeys  = 1 << 10
	readable = iota
	writable
)

var ErrMissing = errors.New("missing key")

var (
	mu      sync.RWMutex
	indices map[string][]int
	hook    func(key string, n int) error
)

// Number is what sums may be made of.
type Number interface {
	~int | ~int64 | ~float64
}

type Record struct {
	ID    int    `json:"id"`
	Name  string `json:"name,omitempty"`
	tags  []string
	bytes [16]byte
	*Base
}

type (
	Base  struct{ created int64 }
	Alias = map[string]*Record
	Store[K comparable, V any] struct {
		items map[K]V
		done  chan struct{}
	}
)

type Reader interface {
	Read(ctx context.Context, key string) (*Record, error)
	fmt.Stringer
}

func New[K comparable, V any](size int) *Store[K, V] {
	return &Store[K, V]{
		items: make(map[K]V, size),
		done:  make(chan struct{}),
	}
}

func (s *Store[K, V]) Get(key K) (value V, ok bool) {
	mu.RLock()
	defer mu.RUnlock()
	value, ok = s.items[key]
	return
}

func Sum[T Number](first T, rest ...T) T {
	total := first
	for _, n := range rest {
		total += n
	}
	return total
}

func describe(v interface{}) string {
	switch x := v.(type) {
	case nil:
		return "nothing"
	case int, int64:
		return fmt.Sprintf("number %v", x)
	case []string:
		return str.Join(x, `, `)
	default:
		return "\tother\n"
	}
}

func (r *Record) load(ctx context.Context, keys []string) error {
	if len(keys) == 0 || r == nil {
		return ErrMissing
	} else if err := ctx.Err(); err != nil {
		return fmt.Errorf("load %d: %w", r.ID, err)
	}
	results := make(chan int, len(keys))
outer:
	for i := 0; i < len(keys); i++ {
		switch {
		case keys[i] == "":
			continue outer
		case i > MaxKeys:
			break outer
		case i&1 == 0:
			fallthrough
		default:
			go func(n int) { results <- n * 2 }(i)
		}
	}
	for {
		select {
		case n, open := <-results:
			if !open {
				return nil
			}
			r.bytes[n&0xF] = byte('a' + n)
		case <-ctx.Done():
			return ctx.Err()
		default:
			copy(r.bytes[:4], r.bytes[4:8:12])
			r.tags = append(r.tags, []string{"a", "b"}...)
		}
	}
}

func main() {
	point := struct{ X, Y float64 }{X: 1.5, Y: -2e3}
	var pair = [...]int{0: 1, 2}
	p := &pair
	(*p)[0]++
	_, _ = point, complex(1, 2i)
	goto end
end:
	fmt.Println(describe(pair), Sum[int](1, 2, 3))
}
