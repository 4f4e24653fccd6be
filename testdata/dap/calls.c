#include <stdio.h>

struct point {
    int x, y;
};

static int fact(int n) {
    if (n <= 1)
        return 1;
    int rest = fact(n - 1);
    return n * rest;
}

int main(int argc, char **argv) {
    struct point p = {argc, 2};
    int total = 0;
    for (int i = 0; i < 5; i++) {
        total += i;
    }
    total += fact(4);
    printf("total %d\n", total + p.y);
    return 5;
}
