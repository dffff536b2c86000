/* lwIP's interface on the VM's network card. */
#ifndef INTERFACE_H
#define INTERFACE_H

#include "lwip/ip4_addr.h"

/* Starts lwIP, and its interface with this address in a network of 24 bits. To be called by a task, once; ends the
 * machine where there is no card. */
void interface_start(const ip4_addr_t *address);

#endif
