#include "ring.h"

#include <stdio.h>

int main(void)
{
    struct ring ring;
    unsigned char byte = 0;
    ring_clear(&ring);
    if (!ring_put(&ring, 'x') || !ring_take(&ring, &byte) || byte != 'x') {
        puts("a byte that was put is not the one that is taken");
        return 1;
    }
    puts("one byte goes in and out");
    return 0;
}
