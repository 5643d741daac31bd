#define GREETING "good morning"
const char *whom(void);
