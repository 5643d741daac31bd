/* Drives the ring with many puts and takes beside a model that simply moves bytes along. */
#include "ring.h"

#include <stdio.h>
#include <string.h>

static unsigned char model[RING_CAPACITY];
static size_t length;

static bool model_put(unsigned char byte)
{
    if (length == RING_CAPACITY) {
        if (!RING_OVERWRITES) {
            return false;
        }
        memmove(model, model + 1, length - 1);
        length -= 1;
    }
    model[length++] = byte;
    return true;
}

static bool model_take(unsigned char *byte)
{
    if (length == 0) {
        return false;
    }
    *byte = model[0];
    memmove(model, model + 1, length - 1);
    length -= 1;
    return true;
}

int main(void)
{
    struct ring ring;
    unsigned long random = 12345;
    ring_clear(&ring);
    for (int step = 0; step < 20000; step++) {
        random = (random * 1103515245 + 12345) & 0x7fffffff;
        /* Long runs of puts, then of takes, so that it is often full and often empty. */
        bool put = (random >> 16) % 8 < ((step / 50) % 2 ? 6u : 2u);
        unsigned char byte = (unsigned char)(random >> 8), expected = 0xee, found = 0xee;
        bool wanted = put ? model_put(byte) : model_take(&expected);
        bool got = put ? ring_put(&ring, byte) : ring_take(&ring, &found);
        if (wanted != got || expected != found || ring_length(&ring) != length) {
            printf("step %d (%s): expected %d/%02x/%zu, found %d/%02x/%zu\n", step,
                   put ? "put" : "take", wanted, expected, length, got, found, ring_length(&ring));
            return 1;
        }
        if (step % 5000 == 4999) {
            ring_clear(&ring);
            length = 0;
        }
    }
    puts("all steps as expected");
    return 0;
}
