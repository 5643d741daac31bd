void speak(void);
