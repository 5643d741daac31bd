#include "ring.h"

void ring_clear(struct ring *ring)
{
    ring->head = 0;
    ring->length = 0;
}

bool ring_put(struct ring *ring, unsigned char byte)
{
    if (ring->length >= RING_CAPACITY - 1) {
        return false;
    }
    ring->bytes[(ring->head + ring->length) % RING_CAPACITY] = byte;
    ring->length += 1;
    return true;
}

bool ring_take(struct ring *ring, unsigned char *byte)
{
    if (ring->length == 0) {
        return false;
    }
    *byte = ring->bytes[ring->head];
    ring->head = (ring->head + 1) % (RING_CAPACITY + 1);
    ring->length -= 1;
    return true;
}

size_t ring_length(const struct ring *ring)
{
    return ring->length;
}
