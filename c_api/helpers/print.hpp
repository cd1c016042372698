#pragma once

#include "messages/value.hpp"

#include <string>

namespace troupe::c_api {

/// Appends a value as text: its type and what it is, arrays and structures with
/// a line for each part. Every line begins with `prefix`.
void print(std::string& out, const value& x, const std::string& prefix);

/// The same for an info: its key, its flags and its value.
void print(std::string& out, const info& x, const std::string& prefix);

/// The first lines of an info: all but its value.
void print_heading(std::string& out, const info& x, const std::string& prefix);

/// The namespace and the rank, or the name of the rank.
std::string print(const proc_id& x);

} // namespace troupe::c_api
