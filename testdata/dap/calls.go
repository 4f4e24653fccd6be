package main

import (
	"fmt"
	"os"
)

func fact(n int) int {
	if n <= 1 {
		return 1
	}
	rest := fact(n - 1)
	return n * rest
}

func main() {
	total := 0
	for i := 0; i < 5; i++ {
		total += i
	}
	total += fact(4)
	fmt.Println("total", total)
	os.Exit(6)
}
