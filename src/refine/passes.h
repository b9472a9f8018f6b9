#pragma once

#include "program/program.h"

/// The parts of refine. Each returns whether it changed the program.
namespace ollie::refine {

// duplicates.cpp
bool merge_constants(program::Program&);
bool merge_steps(program::Program&);

// moves.cpp
/// Steps that only move elements become `alias` or `copy`.
bool name_moves(program::Program&);
/// A move of a moved tensor reads the original.
bool join_moves(program::Program&);
/// Moves whose result is their argument.
bool drop_moves(program::Program&);

// dead.cpp
bool drop_dead_steps(program::Program&);
bool drop_unused_buffers(program::Program&);

}  // namespace ollie::refine
