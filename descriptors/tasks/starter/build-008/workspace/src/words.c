#include "words.h"

const char *whom(void)
{
    return "world";
}
