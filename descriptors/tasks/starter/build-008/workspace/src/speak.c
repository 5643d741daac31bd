#include "speak.h"
#include "words.h"

#include <stdio.h>

void speak(void)
{
    printf("%s, %s\n", GREETING, whom());
}
