// DxDispatch models, whose dispatchables may be graphs.
#pragma once

#include <memory>
#include <optional>

#include "model/model.hpp"

namespace dmlop {

/// read_model(), for models with and without dispatchables of type dmlSerializedGraph.
std::optional<Model> read_model_with_graphs(std::shared_ptr<const json::Document> document,
                                            const json::Value& root, ModelRequest request,
                                            Diagnostics& diagnostics, Diagnostics& warnings);

}  // namespace dmlop
