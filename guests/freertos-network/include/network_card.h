/*
 * The VM's virtio network card (src/card.rs). One call at a time: the interface makes all of them under lwIP's lock.
 */
#ifndef NETWORK_CARD_H
#define NETWORK_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest frame, without its check sequence. */
#define NETWORK_CARD_FRAME_MAX 1514

/* Finds the VM's card; gives the number of its channel, or -1: there is none, or its channel is too small. */
int network_card_find(void);

/* Starts the card that was found, and gives its address. False: there is none, or not yet. */
bool network_card_start(uint8_t address[6]);

/* Acknowledges the card's interrupt. False: it is broken, and to be started again. */
bool network_card_acknowledge(void);

/* Copies the next frame that has arrived, and gives its length; 0: there is none; -1: the card is broken. */
int network_card_receive(uint8_t frame[NETWORK_CARD_FRAME_MAX]);

/* Sends a frame. 0: it was sent; 1: there is no room for it, or for so long a one; -1: the card is broken. */
int network_card_send(const uint8_t *frame, size_t length);

#endif
