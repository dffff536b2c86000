/*
 * Entry of a call that this VM serves: a0 = the channel, a1 to a5 and t0 to t2 = the message, sp = the top of the
 * service's stack, gp as at tactus_serve, interrupts and floating point off. There is nothing to return to: the reply
 * is a call.
 */
#include "tactus.h"

#define W 8 /* bytes in a word */
#define REPLY (8 * W)

    .section .text.tactus_service_entry, "ax"
    .balign 4
    .global tactus_service_entry
    .type tactus_service_entry, @function
tactus_service_entry:
    addi sp, sp, -16 * W
    sd a1, 0 * W(sp)
    sd a2, 1 * W(sp)
    sd a3, 2 * W(sp)
    sd a4, 3 * W(sp)
    sd a5, 4 * W(sp)
    sd t0, 5 * W(sp)
    sd t1, 6 * W(sp)
    sd t2, 7 * W(sp)
    .irp word, 0, 1, 2, 3, 4, 5, 6, 7
    sd zero, REPLY + \word * W(sp)
    .endr
    mv a1, sp
    addi a2, sp, REPLY
    call tactus_service_dispatch
    ld a1, REPLY + 0 * W(sp)
    ld a2, REPLY + 1 * W(sp)
    ld a3, REPLY + 2 * W(sp)
    ld a4, REPLY + 3 * W(sp)
    ld a5, REPLY + 4 * W(sp)
    ld t0, REPLY + 5 * W(sp)
    ld t1, REPLY + 6 * W(sp)
    ld t2, REPLY + 7 * W(sp)
    li a6, TACTUS_CALL_REPLY
    li a7, TACTUS_EXTENSION
    ecall
    unimp
    .size tactus_service_entry, . - tactus_service_entry
