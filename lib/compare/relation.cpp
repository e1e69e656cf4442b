#include "compare/relation.hpp"

#include <cmath>

#include "base/parallel.hpp"
#include "compare/arrangement.hpp"
#include "compare/element_relation.hpp"

namespace dmlop {
namespace {

constexpr std::uint64_t sample_places = 256;
constexpr std::uint64_t steps_of_pair = 16;
// Pairs that all arrangements together may compare.
constexpr std::uint64_t pairs_max = 8 * related_max;

/// Tries out relations of two tensors of elements of one type.
template <typename T>
class RelationFinder {
 public:
  RelationFinder(std::span<const std::byte> actual, std::span<const std::byte> expected,
                 const Comparison& comparison)
      : actual_(actual), expected_(expected), comparison_(comparison) {}

  std::string found() {
    const std::string of_elements = relation_of_elements();
    return of_elements.empty() ? relation_of_places() : of_elements;
  }

  /// For tensors of as many elements that have other sizes.
  std::string found_with_sizes(const Sizes& actual_sizes) {
    const Arrangement same = in_order(comparison_.sizes);
    if (may_hold(same) && holds(same)) return same.text;
    for (const Arrangement& arrangement : arrangements(comparison_.sizes)) {
      const bool is_it = arrangement.is_whole() && arrangement.sizes == actual_sizes;
      if (is_it && may_hold(arrangement) && holds(arrangement)) return arrangement.text;
    }
    return "";
  }

 private:
  using Relation = element::ElementRelation<T>;

  T actual_at(std::uint64_t index) const {
    return element::load<T>(actual_.data() + index * sizeof(T));
  }
  T expected_at(std::uint64_t index) const {
    return element::load<T>(expected_.data() + index * sizeof(T));
  }
  bool passes(std::uint64_t actual, std::uint64_t expected) const {
    return element::passes(comparison_.tolerance, actual_at(actual), expected_at(expected));
  }

  std::vector<Relation> relations_to_try() const {
    std::vector<element::ElementPair<T>> some;
    for (const ElementDifference& difference : comparison_.first)
      some.push_back({actual_at(difference.index), expected_at(difference.index)});
    auto relations = element::element_relations(comparison_.data_type, comparison_.tolerance, some);
    std::erase_if(relations, [&](const Relation& relation) {
      return comparison_.mismatches < relation.least;
    });
    return relations;
  }

  // Goes once through all elements, until no relation is left.
  std::string relation_of_elements() {
    std::vector<Relation> relations = relations_to_try();
    const T first = expected_at(comparison_.first.front().index);
    bool varies = false, is_finite = false;
    for (std::uint64_t i = 0; i < comparison_.elements && !relations.empty(); ++i) {
      steps_.add(steps_of_pair);
      if (passes(i, i)) continue;
      const T a = actual_at(i), e = expected_at(i);
      varies = varies || !element::is_same_value(e, first);
      is_finite = is_finite || std::isfinite(static_cast<double>(element::value_of(a)));
      std::erase_if(relations, [&](const Relation& relation) { return !relation.holds(a, e); });
    }
    for (const Relation& relation : relations) {
      const bool is_shown =
          (varies || !relation.needs_variety) && (is_finite || !relation.needs_finite);
      if (is_shown) return relation.text;
    }
    return "";
  }

  std::string relation_of_places() {
    for (const Arrangement& arrangement : arrangements(comparison_.sizes)) {
      if (may_hold(arrangement) && holds(arrangement)) return arrangement.text;
    }
    return "";
  }

  bool may_hold_at(const Arrangement& arrangement, std::uint64_t index) const {
    const auto expected = arrangement.expected_of(index);
    return !expected || passes(index, *expected);
  }

  // Looks at the known differences, and at some places that are spread over the tensor.
  bool may_hold(const Arrangement& arrangement) {
    for (const auto* list : {&comparison_.first, &comparison_.worst}) {
      for (const ElementDifference& difference : *list) {
        if (!may_hold_at(arrangement, difference.index)) return false;
      }
    }
    steps_.add(sample_places * far_steps / 64);
    const std::uint64_t distance = comparison_.elements / sample_places + 1;
    for (std::uint64_t i = 0; i < comparison_.elements; i += distance) {
      if (!may_hold_at(arrangement, i)) return false;
    }
    return true;
  }

  // Where some actual elements have no expected one, those that have one must explain most of the
  // differences.
  bool holds(const Arrangement& arrangement) {
    std::uint64_t explained = 0;
    const bool is_whole = arrangement.is_whole();
    const bool all = for_all_places(arrangement, [&](std::uint64_t a, std::uint64_t e) {
      steps_.add(steps_of_pair);
      if (++pairs_ > pairs_max) return false;
      if (!is_whole && !passes(a, a)) ++explained;
      return passes(a, e);
    });
    return all && (is_whole || (explained > 1 && 2 * explained >= comparison_.mismatches));
  }

  std::span<const std::byte> actual_, expected_;
  const Comparison& comparison_;
  Steps steps_;
  std::uint64_t pairs_ = 0;
};

template <typename Find>
std::string related(const Elements& actual, const Elements& expected, Find find) {
  const std::uint64_t count = expected.count();
  if (count > related_max || expected.sizes().empty()) return "";
  std::vector<std::byte> actual_scratch, expected_scratch;
  const auto a = actual.read(0, count, actual_scratch);
  const auto e = expected.read(0, count, expected_scratch);
  return visit_type(expected.data_type(),
                    [&]<typename T>(T element) { return find(element, a, e); });
}

}  // namespace

std::string relation_of(const Elements& actual, const Elements& expected,
                        const Comparison& comparison) {
  if (comparison.first.empty()) return "";
  return related(actual, expected, [&]<typename T>(T, auto a, auto e) {
    return RelationFinder<T>(a, e, comparison).found();
  });
}

std::string relation_of_unlike(const Elements& actual, const Elements& expected,
                               const Tolerance& tolerance) {
  const bool are_related = actual.data_type() == expected.data_type() &&
                           actual.count() == expected.count() && expected.count() > 0;
  if (!are_related || actual.sizes().empty()) return "";
  Comparison comparison;
  comparison.tolerance = tolerance;
  comparison.data_type = expected.data_type();
  comparison.sizes = expected.sizes();
  comparison.elements = expected.count();
  return related(actual, expected, [&]<typename T>(T, auto a, auto e) {
    return RelationFinder<T>(a, e, comparison).found_with_sizes(actual.sizes());
  });
}

}  // namespace dmlop
