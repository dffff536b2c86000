/* The library of Linux's programs, with the window, the devicetree and the memory of a test. */

#include <stdint.h>

const char *test_soc(void);
const char *test_memory(void);
uint64_t test_load(uint64_t offset);

#define TACTUS_CLIENT_SOC test_soc()
#define TACTUS_CLIENT_MEMORY test_memory()
/* The window is mapped at a multiple of its size. */
#define TACTUS_CLIENT_LOAD(address) test_load((uintptr_t)(address) % 4096)

#include "tactus_client.h"

int test_open(struct tactus_client *client, unsigned channel);
int test_call(struct tactus_client *client, const uint64_t *message, uint64_t *reply);
void test_close(struct tactus_client *client);
const char *test_text(int error);

int test_open(struct tactus_client *client, unsigned channel)
{
    return tactus_client_open(client, channel);
}

int test_call(struct tactus_client *client, const uint64_t *message, uint64_t *reply)
{
    return tactus_client_call(client, message, reply);
}

void test_close(struct tactus_client *client)
{
    tactus_client_close(client);
}

const char *test_text(int error)
{
    return tactus_client_text(error);
}
