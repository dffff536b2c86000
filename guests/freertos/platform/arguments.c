#include "arguments.h"

#include <stddef.h>

#include "platform.h"

const char *argument_behind(const char *text, const char *begin)
{
    for (; *begin != 0; text++, begin++)
        if (*text != *begin)
            return NULL;
    return text;
}

const char *argument(const char *name)
{
    for (const char *at = platform.bootargs; *at != 0; at++) {
        const char *value = at == platform.bootargs || at[-1] == ' ' ? argument_behind(at, name) : NULL;

        if (value != NULL)
            return value;
    }
    return NULL;
}

uint64_t argument_number(const char *name, uint64_t otherwise)
{
    const char *at = argument(name);
    uint64_t value = 0;

    if (at == NULL)
        return otherwise;
    for (; *at >= '0' && *at <= '9'; at++)
        value = 10 * value + (uint64_t)(*at - '0');
    return value;
}
