#pragma once

#include <caf/error.hpp>

#include <functional>

namespace troupe {

/// The exit status of a program of ours that cannot do its work for want of
/// something on this machine, before anything has begun or in the middle: a
/// limit, a directory, a file system. Source: env(1), timeout(1), chroot(1).
inline constexpr int cannot_work = 125;

/// @returns 1 for what the user can put right by other options, such as a name,
///          else `cannot_work`.
int failure_status(const caf::error& why);

/// The exit status if standard output cannot be written. Source: sysexits.h,
/// EX_IOERR.
inline constexpr int cannot_write = 74;

/// Runs what a program does, so that it ends in order whatever happens: not by
/// an exception, nor by a signal that a limit or a reader of its output sends.
/// One line on standard error says what is the matter and what to do.
///
/// Before anything else it occupies closed standard descriptors, lets writes
/// fail instead of SIGPIPE and SIGXFSZ, and raises the limit of open files.
/// @param program How its lines begin.
/// @returns the exit status: what `body` returns, `cannot_work`,
///          `cannot_write`, or 141 if nobody reads what it has written.
int guarded_main(const char* program, const std::function<int()>& body);

} // namespace troupe
