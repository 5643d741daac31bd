#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stddef.h>

/* How many bytes fit: all of them can be in use. */
#define RING_CAPACITY 8

/* What a put to a full ring does. 0: it is refused. 1: the oldest byte makes room. */
#define RING_OVERWRITES 0

struct ring {
    unsigned char bytes[RING_CAPACITY];
    size_t head;   /* where the oldest byte is */
    size_t length; /* how many bytes are in it */
};

/* Makes it empty. */
void ring_clear(struct ring *ring);

/* Adds a byte; false if it was refused. */
bool ring_put(struct ring *ring, unsigned char byte);

/* Takes the oldest byte; false, with *byte as it was, if there is none. */
bool ring_take(struct ring *ring, unsigned char *byte);

/* How many bytes are in it. */
size_t ring_length(const struct ring *ring);

#endif
