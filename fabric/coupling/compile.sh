#!/bin/sh
# The C++ compiler for a model, as Verilator's makefile calls it. What writes waveforms is the largest part of a model
# and runs only while a run is recorded: without optimisation it compiles in a third of the time.
case " $* " in
*__Trace__*)
    # Newer Verilators (5.032) have a header compiled before, with optimisation; it fits no other flags. The same as
    # text does.
    for word; do
        shift
        case $word in *__pch.h.fast) word=${word%.fast} ;; esac
        set -- "$@" "$word"
    done
    exec "$@" -O0
    ;;
*) exec "$@" ;;
esac
