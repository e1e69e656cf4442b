// The sentences that alternatives become.
#include "base/advice.hpp"

#include <doctest/doctest.h>

namespace dmlop::advice_words_test {

using Kind = Alternative::Kind;

TEST_CASE("advice: alternatives become one sentence") {
  CHECK(Advice().text() == "");
  CHECK(Advice("").empty());
  CHECK(Advice("keep one of them").text() == "keep one of them");
  const Alternative two = Alternative::write("2"), three = Alternative::write("3");
  CHECK(Advice{two, three}.text() == "write 2 or 3");
  CHECK(Advice{two, three, Alternative::write("4")}.text() == "write 2, 3 or 4");
  CHECK(Advice{two, Alternative::leave_out()}.text() == "write 2 or leave it out");
  CHECK(Advice{two, Alternative::write_for("Axis", "1")}.text() == "write 2, or 1 for Axis");
  CHECK(Advice{Alternative::write("2", " or more"), Alternative::sentence("change K")}.text() ==
        "write 2 or more, or change K");
  CHECK(Advice{Alternative::sentence("change K"), two}.text() == "change K, or write 2");
  const Alternative both{.kind = Kind::make, .value = "2", .place = "both"};
  CHECK(Advice(both).text() == "make both 2");
}

TEST_CASE("advice: steps that only help together are one alternative") {
  const Alternative two = Alternative::write("2"), one = Alternative::write_for("Axis", "1");
  const Alternative none{.kind = Kind::leave_out, .place = "Bias"};
  CHECK(Advice(Alternative::together({two, one, none})).text() ==
        "write 2 and 1 for Axis and leave Bias out");
  CHECK(Advice(Alternative::together({none, one})).text() == "leave Bias out and write 1 for Axis");
}

TEST_CASE("advice: a kind is dropped only where something else is left") {
  Advice packed{Alternative::write("[2, 1]", " for a packed tensor"), Alternative::leave_out()};
  CHECK(packed.text() == "write [2, 1] for a packed tensor, or leave it out");
  packed.prefer_others_to(Kind::leave_out);
  CHECK(packed.text() == "write [2, 1] for a packed tensor");
  Advice alone = Alternative::leave_out();
  alone.prefer_others_to(Kind::leave_out);
  CHECK(alone.text() == "leave it out");
}

}  // namespace dmlop::advice_words_test
