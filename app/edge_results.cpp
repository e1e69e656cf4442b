#include "edge_results.hpp"

#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "base/text.hpp"
#include "compare/comparison_json.hpp"
#include "comparison_results.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

// node "Conv_3" (CONVOLUTION)
std::string title_of(const Model& model, std::size_t dispatchable) {
  const Dispatchable& node = model.dispatchables[dispatchable];
  return std::string(model.words.has_commands ? "dispatchable" : "node") + " \"" +
         printable(node.name) + "\" (" + node.description->spec->name + ")";
}

std::string titles_of(const Model& model, const std::vector<WrongNode>& nodes) {
  constexpr std::size_t listed = 8;
  std::vector<std::string> titles;
  for (const WrongNode& node : nodes) {
    if (titles.size() < listed) titles.push_back(title_of(model, node.dispatchable));
  }
  const std::size_t more = nodes.size() - titles.size();
  return join(titles) + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

}  // namespace

void print_edges(const Model& model, const EdgeComparer& comparer) {
  const std::vector<WrongNode>& wrong = comparer.wrong_nodes();
  std::size_t following = 0;
  for (const ComparedEdge& edge : comparer.edges()) {
    if (edge.follows) ++following;
    if (edge.is_wrong())
      print_comparison(edge.output, edge.dispatchable == wrong.front().dispatchable);
  }
  const std::size_t edges = comparer.edges().size();
  print({counted(edges, model.words.resource), std::string(edges == 1 ? " was" : " were"),
         " compared"});
  if (following > 0)
    print({", of which ", following,
           std::string(following == 1
                           ? " differs only because its inputs do: from the expected inputs, its "
                             "node computes what is expected"
                           : " differ only because their inputs do: from the expected inputs, "
                             "their nodes compute what is expected")});
  if (wrong.empty()) return print({". No node is wrong.\n"});
  print({". The first wrong one is the ", title_of(model, wrong.front().dispatchable),
         ": from the expected inputs it computes another ", names_of_list(wrong.front().outputs),
         ".\n"});
  if (!wrong.front().uncertain.empty())
    print({"Nothing was compared with its input ", names_of_list(wrong.front().uncertain),
           ", so an earlier one may be wrong.\n"});
  if (wrong.size() > 1)
    print({"Wrong by themselves are also: ", titles_of(model, {wrong.begin() + 1, wrong.end()}),
           "\n"});
}

nlohmann::ordered_json edges_json(const Model& model, const EdgeComparer& comparer) {
  Json edges = Json::array(), nodes = Json::array();
  for (const ComparedEdge& edge : comparer.edges()) {
    Json json{{"name", edge.output.tensor},
              {"node", model.dispatchables[edge.dispatchable].name},
              {"expected", edge.output.expected_path},
              {"follows", edge.follows}};
    json.update(to_json(edge.output.comparison));
    edges.push_back(std::move(json));
  }
  for (const WrongNode& wrong : comparer.wrong_nodes()) {
    const Dispatchable& node = model.dispatchables[wrong.dispatchable];
    nodes.push_back({{"node", node.name},
                     {"operator", node.description->spec->name},
                     {"outputs", wrong.outputs},
                     {"uncertainInputs", wrong.uncertain}});
  }
  return {{"wrongNodes", std::move(nodes)}, {"edges", std::move(edges)}};
}

}  // namespace dmlop::app
