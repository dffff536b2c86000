void selftest_main(void);
void selftest_main(void){ for(;;); }
