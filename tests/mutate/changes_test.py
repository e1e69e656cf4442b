#!/usr/bin/env python3
"""What changes.py makes of lines, and what it leaves alone; and how mutate.py asks the tests."""
import unittest
from unittest import mock

import mutate
from changes import apply, changes_of


def after(line, path="lib/a.cpp"):
    return {change.after for change in changes_of(path, line)}


def kinds(line, path="lib/a.cpp"):
    return {change.kind for change in changes_of(path, line)}


class Cpp(unittest.TestCase):
    def test_comparisons_go_to_their_other_side(self):
        self.assertIn("  if (a <= b) f();", after("  if (a < b) f();"))
        self.assertIn("  if (a < b) f();", after("  if (a <= b) f();"))
        self.assertIn("  return a != b;", after("  return a == b;"))

    def test_templates_and_shifts_are_no_comparisons(self):
        self.assertNotIn("comparison", kinds("  std::vector<int> v = make<int>(x << 3);"))

    def test_bounds_lose_one(self):
        self.assertIn("  f(at);", after("  f(at + 1);"))
        self.assertIn("  x = std::max(a, b);", after("  x = std::min(a, b);"))
        self.assertNotIn("  f(at0);", after("  f(at + 10);"))

    def test_conditions(self):
        self.assertIn("  if (a || b) {", after("  if (a && b) {"))
        self.assertIn("  if (found) {", after("  if (!found) {"))

    def test_constants(self):
        self.assertEqual({"  x = 9;", "  x = 7;", "  ;"}, after("  x = 8;"))
        self.assertIn("  f(true);", after("  f(false);"))

    def test_numbers_that_are_no_whole_ones_stay(self):
        for number in ("0x41", "1.5F", "8'388'608", "utf8", "v2[i]"):
            self.assertNotIn("constant", kinds(f"  f({number});"), number)

    def test_texts_are_not_subtracted(self):
        self.assertNotIn("arithmetic", kinds('  f(path + ".npy");'))
        self.assertIn("arithmetic", kinds("  f(begin + bytes);"))

    def test_errors_are_lost(self):
        self.assertIn("  ;", after("  if (error) return error;"))
        self.assertIn("  ;", after('  if (error) fail("writing " + path);'))
        self.assertIn("  file.close();", after("  error = file.close();"))
        self.assertIn("  return {};", after("  return error;"))
        self.assertIn("  ;", after('  throw Error(kind, "no");'))

    def test_calls_and_assignments_are_dropped(self):
        self.assertIn("  ;", after("  list.push_back(x);"))
        self.assertIn("  ;", after("  result.place = job.place;"))
        self.assertNotIn("  ;", after("  const int x = f(y);"))
        self.assertNotIn("  ;", after("  return f(y);"))

    def test_arguments_are_swapped(self):
        self.assertIn("  f(b, a);", after("  f(a, b);"))
        self.assertIn("  f(to.b, from.a, c);", after("  f(from.a, to.b, c);"))
        self.assertNotIn("swapped arguments", kinds("  f(a, a);"))

    def test_cases(self):
        self.assertIn("    ", after("    case Kind::a: return 1;"))
        self.assertIn("  return x;", after("  if (a) return x;"))

    def test_another_tensor_is_read(self):
        self.assertIn("  at += right.strides[k];", after("  at += left.strides[k];"))
        self.assertIn("  x = column_stride;", after("  x = row_stride;"))
        self.assertIn("  x = zero_point->strides[0];", after("  x = scale->strides[0];"))
        self.assertIn("  at += strides[0];", after("  at += strides[1];"))
        self.assertNotIn("other tensor", kinds("  x = copyright.size();"))

    def test_loops_end_otherwise(self):
        self.assertIn("    if (done) continue;", after("    if (done) break;"))
        self.assertIn("    break;", after("    continue;"))

    def test_barriers_and_clamps_are_dropped(self):
        self.assertIn("barrier", kinds("  GroupMemoryBarrierWithGroupSync();", "shaders/a.hlsl"))
        self.assertLessEqual({"  x = a;", "  x = b - 1;"}, after("  x = std::min(a, b - 1);"))
        self.assertIn("  x = a.b;", after("  x = std::clamp(a.b, 0, last);"))

    def test_words_for_people_stay(self):
        self.assertEqual(set(), after("// if (a < b) return 1;"))
        self.assertEqual(set(), after('#include "a/1.hpp"'))
        self.assertEqual({"  ;"}, after('  message = "a < b && 1";'))
        self.assertEqual(set(), after("  static_assert(sizeof(x) == 8);"))

    def test_every_change_is_one_line_and_can_be_made(self):
        text = "int f(int a) {\n  if (a < 3) return 1;\n  return a + 1;\n}\n"
        for change in changes_of("lib/a.cpp", text):
            lines = zip(text.split("\n"), apply(text, change).split("\n"), strict=True)
            self.assertEqual([change.line], [number for number, (a, b) in enumerate(lines, 1) if a != b])


class Specs(unittest.TestCase):
    PATH = "specs/pooling/lp_pooling.json"

    def test_rules(self):
        self.assertIn('    "P > 1",', after('    "P >= 1",', self.PATH))
        self.assertIn("", after('    "P >= 1",', self.PATH))

    def test_types_and_levels(self):
        line = '    {"from": "1_0", "types": ["FLOAT32", "FLOAT16"]},'
        self.assertIn(line.replace('"FLOAT32", ', ""), after(line, self.PATH))
        self.assertIn(line.replace("1_0", "6_4"), after(line, self.PATH))

    def test_words_for_people_stay(self):
        self.assertEqual(set(), after('  "summary": "2 or 3 of 4, a < b",', self.PATH))

    def test_examples_stay(self):
        self.assertEqual([], list(changes_of(self.PATH, '  "example": {\n    "Sizes": [1, 2]\n  }\n}')))


class Asking(unittest.TestCase):
    def asked(self, **options):
        entries = mutate.Entries.__new__(mutate.Entries)  # without a build
        entries.jobs = 1
        entries.seconds = dict.fromkeys("abc", 1)

        def fails_in_b(name, limit, running):
            return name != "b", ""

        with mock.patch.object(mutate, "ask_entry", fails_in_b):
            return [(name, passed) for name, passed, _, _ in entries.asked("abc", **options)]

    def test_all_are_asked_where_failures_do_not_stop(self):
        self.assertEqual([("a", True), ("b", False), ("c", True)], sorted(self.asked(stop_at_failure=False)))

    def test_a_failure_is_the_last_one(self):
        asked = self.asked()
        self.assertEqual(("b", False), asked[-1])
        self.assertNotIn(("b", False), asked[:-1])


if __name__ == "__main__":
    unittest.main()
