#include "batch/selection.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "batch/digest.hpp"

namespace dmlop {
namespace {

bool matches_any(const std::string& id, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches_pattern(id, pattern); });
}

}  // namespace

bool Selection::selects(const BatchJob& job) const {
  if (!filters.empty() && !matches_any(job.id, filters)) return false;
  if (matches_any(job.id, excludes)) return false;
  const auto has_tag = [&](const std::string& tag) {
    return std::find(job.tags.begin(), job.tags.end(), tag) != job.tags.end();
  };
  // One that may have the tags asked for is not to disappear.
  return tags.empty() || !job.has_known_tags || std::any_of(tags.begin(), tags.end(), has_tag);
}

std::string Selection::shard_text() const {
  if (shard_count == 1) return "";
  return std::to_string(shard_index) + "/" + std::to_string(shard_count);
}

void UsedIds::check(BatchJob& job) {
  if (!job.has_own_id) return;
  const std::uint32_t first_line = lines_.add(short_digest(job.id), job.line);
  if (first_line == 0) return;
  job.findings.push_back(
      {.file = job.document ? job.document->file() : "",
       .line = job.line,
       .column = 1,
       .message = "the id \"" + job.id + "\" is used before, on line " + std::to_string(first_line),
       .suggestion = "give every job an id of its own"});
  job.id = job.made_up_id;  // records go by id, and this one is taken
}

void JobFolders::check(BatchJob& job) {
  std::string other;
  for (std::size_t at = job.id.find('/'); at != std::string::npos; at = job.id.find('/', at + 1)) {
    const std::string outer = job.id.substr(0, at), name = job.id.substr(at + 1);
    if (!name.substr(0, name.find('/')).ends_with(".npy")) continue;
    if (ids_.find(short_digest(outer)) != 0) other = outer;
    inside_.emplace(outer, job.id);
  }
  if (const auto found = inside_.find(job.id); found != inside_.end()) other = found->second;
  ids_.add(short_digest(job.id), 1);
  if (other.empty()) return;
  const auto& [outer, inner] = std::minmax(job.id, other);
  job.findings.push_back(
      {.file = job.document ? job.document->file() : "",
       .line = job.line,
       .column = job.line == 0 ? 0U : 1U,
       .message = "the folder of the job \"" + inner + "\" has the name of a file of the job \"" +
                  outer + "\"",
       .rule = "--out writes the outputs of a job as NAME.npy into the folder of its id",
       .suggestion = "give one of them an id that does not lie in the other, or has no .npy"});
}

// Reads all jobs to know which are selected, as ids and tags stand in files.
void JobSelector::deal() {
  // Of JSON Lines nobody knows the number, and there may be many.
  if (selection_.shard_count == 1 || !manifest_.size()) return;
  const auto all = manifest_.again();
  if (!all) return;
  struct Card {
    std::uint64_t digest;
    std::uint64_t number;
  };
  std::vector<Card> cards;
  std::uint64_t count = 0;
  UsedIds ids;
  for (; auto job = all->next(); ++count) {
    check_for_stop();
    ids.check(*job);
    if (!selection_.selects(*job)) continue;
    cards.push_back({short_digest(job->id), count});
    selected_.add(cards.back().digest);
  }
  std::sort(cards.begin(), cards.end(), [](const Card& a, const Card& b) {
    return std::pair(a.digest, a.number) < std::pair(b.digest, b.number);
  });
  mine_.emplace(count);
  for (std::size_t i = selection_.shard_index; i < cards.size(); i += selection_.shard_count)
    (*mine_)[cards[i].number] = true;
}

bool JobSelector::is_mine(const BatchJob& job) {
  const std::uint64_t number = job.number - 1;
  if (mine_) return number < mine_->size() && (*mine_)[number];
  if (!selection_.selects(job)) return false;
  const std::uint64_t place = selected_.count;
  selected_.add(short_digest(job.id));
  return place % selection_.shard_count == selection_.shard_index;
}

std::optional<BatchJob> JobSelector::next() {
  if (!std::exchange(has_begun_, true)) deal();
  while (auto job = manifest_.next()) {
    job->number = ++count_;
    if (files_ != nullptr) files_->add(*job);
    ids_.check(*job);
    if (!is_mine(*job)) continue;
    if (has_folders_) folders_.check(*job);
    return job;
  }
  return std::nullopt;
}

}  // namespace dmlop
