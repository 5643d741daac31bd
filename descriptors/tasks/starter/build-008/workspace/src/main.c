#include "speak.h"

int main(void)
{
    speak();
    return 0;
}
