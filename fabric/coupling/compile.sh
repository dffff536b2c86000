#!/bin/sh
# The C++ compiler for a model, as Verilator's makefile calls it. What writes waveforms is the largest part of a model and
# runs only while somebody records: without optimisation it compiles in a third of the time.
case " $* " in
*__Trace__*) exec "$@" -O0 ;;
*) exec "$@" ;;
esac
