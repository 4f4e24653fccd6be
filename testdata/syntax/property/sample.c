/* A small list of orders. */
#include <stdio.h>
#include "orders.h"

#define LIMIT 32
#define SQUARE(x) ((x) * (x))

typedef struct line {
    long price;
    unsigned count;
    struct line *next;
} line_t;

enum state { EMPTY, OPEN = 2, CLOSED };

union value {
    int number;
    char *text;
};

static const char *names[] = { "empty", "open", "closed" };
int counters[LIMIT][2] = { { 1, 2 }, { [1] = 3 } };
extern int debug;

static long total(const line_t *line);
int compare(const void *a, const void *b);

/* The sum of all lines. */
static long total(const line_t *line)
{
    long sum = 0;
    for (; line != NULL; line = line->next) {
        sum += line->price * line->count;
    }
    return sum;
}

line_t *add(line_t **head, long price, unsigned count)
{
    line_t *line = malloc(sizeof(line_t));
    if (!line) {
        fprintf(stderr, "no memory for %ld\n", price);
        return NULL;
    }
    line->price = price;
    line->count = count;
    line->next = *head;
    *head = line;
    return line;
}

void release(line_t *line)
{
    while (line) {
        line_t *next = line->next;
        free(line);
        line = next;
    }
}

int classify(long value, int (*check)(long, void *))
{
    int i, n = 0;
    switch (value) {
    case 0:
        return EMPTY;
    case 1:
    case 2:
        n++;
        break;
    default:
        n = value < 0 ? -1 : 1;
    }
    do {
        n--;
    } while (n > 0 && check(value, &n));
    if (n == 0)
        goto out;
    else if (n > LIMIT)
        n = LIMIT;
    else
        n = ~n;
    for (i = 0; i < n; i++)
        counters[i][0] ^= (i << 2) | 0x0f;
out:
    return n;
}

#ifdef DEBUG
static void dump(union value v, enum state s)
{
    printf("%s: %d '%c'\n", names[s], v.number, 'x');
    debug = (int) s;
}
#else
#define dump(v, s)
#endif

int main(int argc, char **argv)
{
    line_t *head = NULL;
    struct line local = { .price = 3, .count = 1 };
    unsigned char buffer[16];
    volatile int *flag = &debug; // watched
    if (argc < 2 || argv[1][0] == '\0') {
        return 1;
    }
    add(&head, 3, 2);
    add(&head, atol(argv[1]), local.count);
    printf("%ld %zu\n", total(head), sizeof buffer);
    *flag = SQUARE(argc + 1), debug++;
    release(head);
    return classify(total(head), NULL) == EMPTY;
}
