#include <signal.h>
#include <stdio.h>
#include <unistd.h>

volatile long rounds;

static void tell(int signal) {
    (void)signal;
    if (write(1, "alive\n", 6) != 6)
        _exit(1);
}

static void turn(long n) {
    rounds += n;
}

int main(void) {
    signal(SIGUSR1, tell);
    puts("ready");
    fflush(stdout);
    for (;;) {
        turn(1);
        usleep(1000);
    }
}
