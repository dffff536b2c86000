/*
 * What the VMs of systems/freertos-calls.toml ask of each other: messages begin with a command, replies with a status.
 * guests/runtime/src/bin/call-example.rs, the program in Rust, has the same numbers.
 */
#ifndef VALVE_H
#define VALVE_H

/* Commands to the table (Rust), and its entries. */
enum table_command {
    /* (entry): the entry's value. */
    TABLE_GET = 1,
    /* (entry, value): stores it; the value before. */
    TABLE_SET = 2,
    /* Each word inverted, the command included. */
    TABLE_INVERT = 3,
};
enum table_entry { TABLE_LIMIT = 0 };
enum table_status { TABLE_DONE = 0, TABLE_REFUSED = 1 };

/* Commands to the valve (C). */
enum valve_command {
    /* (position): moves there, if the table's limit allows. */
    VALVE_MOVE = 1,
    /* Its position; how many calls it has served in this life of its VM. */
    VALVE_READ = 2,
    /* For tests: (ticks of `time`) computes for so long, then asks the table; the result of that call. */
    VALVE_SPEND = 3,
    /* For tests: a task serves no calls for VALVE_PAUSE_TICKS. */
    VALVE_PAUSE = 4,
    /* For tests: (a valve_fault) does what a service may not. */
    VALVE_FAULT = 5,
};
enum valve_status { VALVE_DONE = 0, VALVE_REFUSED = 1, VALVE_BUSY = 2, VALVE_NO_LIMIT = 3 };

/* In the order in which tests ask for them; tactus/tests/calls.rs has their causes. */
enum valve_fault {
    VALVE_FAULT_NEVER_ENDS,
    VALVE_FAULT_WAITS,
    VALVE_FAULT_COMPUTES_WITH_FLOATS,
    VALVE_FAULT_OVERFLOWS,
    VALVE_FAULT_ILLEGAL,
    VALVE_FAULTS,
};

/* How long it pauses, in ticks of the kernel. */
#define VALVE_PAUSE_TICKS 5

#endif
