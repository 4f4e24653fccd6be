#ifndef NASTY_H
#define NASTY_H
#include <stdio.h>
#include "local.h" /* comment { */

#define MACRO(x) do { \
    (x)++; \
} while (0)
#define QUOTE '"'
#define TEXT "it's }"

#if defined(A) && \
    defined(B)
static int a = 1;

static int aa = 2;
#elif defined(C)

int c(void);
#else
int b[] = { 1, 2 };
#endif

struct point { int x, y; };
struct point { int x; } origin = { 0 };
typedef struct node { struct node *next; } node_t;
enum color { RED, GREEN = 3 };
typedef int (*callback)(void *, const char *);
extern int printf(const char *format, ...);
static const char *names[] = { "}", "{", "\"", 0 };
char brace = '}', quote = '\'', slash = '\\';

/* comment before the function } */
static int add(int a, int b)
{
    // comment }
#ifdef DEBUG
    printf("a debug line { that stands in a conditional\n");
#endif
    if (a > b) { printf("a block that is long enough to be left out of the parse\n"); }
    else { return (int) sizeof(struct point); }
    switch (a) { case 1: return '}'; default: break; }
    return a + b;
}

struct point *make(void) { return (struct point *) 0; } // trailing

int main(int argc, char **argv) {
    do { argc--; } while (argc > 0);
    for (int i = 0; i < 3; i++) { add(i, i); }
    return 0;
}
#endif /* NASTY_H */
