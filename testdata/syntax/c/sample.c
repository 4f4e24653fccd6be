/* A table of words, with counts. */
#include <stdio.h>
#include <stdlib.h>
#include "table.h"

#define MAX_WORDS 64
#define SQUARE(x) ((x) * (x))
#ifndef TABLE_DEBUG
#define TABLE_DEBUG 0
#endif

typedef unsigned long count_t;
typedef int (*compare_fn)(const void *left, const void *right);

enum state { IDLE, BUSY = 2, DONE, };

union value {
    int number;
    double real;
    char bytes[sizeof(double)];
};

struct word {
    const char *text;
    count_t count;
    unsigned int flags : 3;
    struct word *next;
};

typedef struct {
    struct word *heads[MAX_WORDS];
    enum state state;
} table;

extern int verbose;
static const int primes[] = { 2, 3, 5, 7, };
static struct word none = { .text = "", .count = 0, .next = NULL };
int grid[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } };

static inline int hash(const char *text, ...);
int compare(const void *left, const void *right);

static inline int hash(const char *text, ...)
{
    int sum = 0;
    for (; *text; text++)
        sum = (sum << 5) ^ (unsigned char)*text;
    return sum & 0x3F;
}

struct word *table_find(table *t, const char *text)
{
    struct word *w = NULL;
    for (int i = 0, n = MAX_WORDS; i < n; ++i) {
        for (w = t->heads[i]; w != NULL; w = w->next) {
            if (w->text == text && !(w->flags & 1u)) {
                goto found;
            } else if (w->count == 0) {
                continue;
            } else {
                break;
            }
        }
    }
    return &none;
found:
    w->count += 1;
    return w;
}

int table_add(table *t, char *text, count_t by)
{
    int at = hash(text, 0) % MAX_WORDS;
    struct word *w = malloc(sizeof(*w));
    if (!w)
        return -1;
    w->text = text;
    w->count = by ? by : 1;
    w->next = t->heads[at];
    (*t).heads[at] = w;
    do {
        at >>= 1;
    } while (at > 0);
    return 0;
}

void table_print(FILE *out, const table *t)
{
    int line = 1;
    switch (t->state) {
    case IDLE:
        fprintf(out, "idle\t%d\n", line);
        break;
    case BUSY:
    case DONE: {
        char mark = t->state == BUSY ? 'b' : '\0';
        fputc(mark, out);
        break;
    }
    default:
        fputs("no " "state", out);
    }
    while (line < 10)
        line++;
#if TABLE_DEBUG
    fprintf(stderr, "debug\n");
#else
    (void)verbose;
#endif
}

int main(int argc, char **argv)
{
    table t = { 0 };
    compare_fn by = compare;
    union value v = { .real = 1.5e3 };
    int *p = (int[]){ 1, 2 };
    for (;;) {
        if (argc-- <= 1)
            break;
        table_add(&t, argv[argc], 0L);
    }
    printf("%lu %f %d\n", table_find(&t, "a")->count, v.real, SQUARE(p[0] + ~primes[1]));
    return by != NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}
