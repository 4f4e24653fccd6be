package main

import "time"

func main() {
	n := 0
	for {
		n++
		time.Sleep(50 * time.Millisecond)
	}
}
