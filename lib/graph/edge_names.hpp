// What the files of a graph's edges and constants are called.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace dmlop {

/// A file name without its extension for an edge or a constant: its own name wherever every file
/// system takes that, else with _ for other characters, and not longer than 100.
std::string safe_file_name(const std::string& wished);

/// The name, or with a number behind it the first that is new among those taken, to which it is
/// added. Systems without capitals count.
std::string new_file_name(const std::string& name, std::set<std::string>& taken);

/// The name of a file for each resource that a dispatch writes, without .npy; "" for others. It is
/// safe_file_name(), with a number behind it if two edges share that.
std::vector<std::string> edge_file_names(const Model& model);

}  // namespace dmlop
