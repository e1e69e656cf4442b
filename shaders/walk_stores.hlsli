// How threads that walk down windows (window_walk.hlsli) store their results: by vectors of COLUMNS elements.
//
// With ALIGNED, a thread's results are a vector in every row. Otherwise rows of the output may begin within a vector.
// Threads then leave their results in groupshared memory, and each stores the vector that begins in front of its own first
// result, with the last results of the thread before. The first thread of a group stores nothing: it does what the last
// one of the group before does. So words are stored by themselves at the ends of rows alone.

// Stores the half of a word that the mask covers; the other one may be another thread's.
void store_half(uint at, uint word, uint mask) {
  InterlockedAnd(output_words[at], ~mask);
  InterlockedOr(output_words[at], word & mask);
}

#ifdef ALIGNED
uint walk_number(uint thread) { return min(thread, END_OF_THREADS - 1); }
bool stores_results(uint lane) { return true; }
uint rows_walked() { return walk.rows; }
uint first_stored(uint row) { return walk.first_column; }

void store_results(uint row, uint y, uint4 own) {
  store_words((row * shape.output_width + walk.first_column) / PER_WORD, STORED, own);
}
#else
// The results of all threads of a group, of two rows in turns, so that a row needs one barrier.
groupshared uint4 vectors[2 * GROUP_SIZE];

// Which of all walks a thread takes.
uint walk_number(uint thread) {
  thread = min(thread, END_OF_THREADS - 1);
  return max(thread - thread / GROUP_SIZE, 1) - 1;
}

bool stores_results(uint lane) { return lane > 0; }

// As many for all threads, because of the barriers.
uint rows_walked() { return shape.block_rows; }

// What a thread leaves in `place` 0 or 1, and what the one before leaves there.
uint4 exchanged(uint4 own, uint place) {
  const uint at = place * GROUP_SIZE + walk.lane;
  vectors[at] = own;
  GroupMemoryBarrierWithGroupSync();
  return vectors[walk.lane > 0 ? at - 1 : at];
}

// The COLUMNS results of which the first `count` are the last ones of `previous`, and the others the first of `own`.
uint4 vector_across(uint4 previous, uint4 own, uint count) {
  uint words_[2 * STORED_MOST] = {previous.x, previous.y, STORED == 4 ? previous.z : own.x, STORED == 4 ? previous.w : own.y,
                                  own.x, own.y, own.z, own.w};
  // Moved by powers of two, so that all indices are known.
  const uint first = COLUMNS - count;
  [unroll]
  for (uint step = STORED_MOST; step > 0; step /= 2) {
    const bool is_moved = step * PER_WORD >= ALIGNMENT && (first / PER_WORD & step) != 0;
    [unroll]
    for (uint w = 0; w + step < 2 * STORED_MOST; ++w) words_[w] = is_moved ? words_[w + step] : words_[w];
  }
  if (ALIGNMENT < PER_WORD && (first & 1) != 0) {
    [unroll]
    for (uint w = 0; w < STORED_MOST; ++w) words_[w] = words_[w] >> 16 | words_[w + 1] << 16;
  }
  return uint4(words_[0], words_[1], words_[2], words_[3]);
}

// Stores elements [first, end) of a vector of the output, word by word.
void store_part(uint vector_, uint4 words_, int first, int end) {
  [unroll]
  for (uint w = 0; w < STORED; ++w) {
    const uint at = vector_ * STORED + w;
    const uint word = w == 0 ? words_.x : w == 1 ? words_.y : w == 2 ? words_.z : words_.w;
    const int low = int(w * PER_WORD), high = low + int(PER_WORD) - 1;
    const bool has_low = low >= first && low < end, has_high = high >= first && high < end;
    if (has_low && has_high) {
      store_words(at, 1, uint4(word, 0, 0, 0));
    } else if (ALIGNMENT < PER_WORD && (has_low || has_high)) {
      store_half(at, word, has_low ? 0xFFFFu : 0xFFFF0000u);
    }
  }
}

// How many results of the thread before a thread stores in a row of all planes.
uint stored_before(uint row) { return row * shape.output_width % COLUMNS; }

// The first column of a row that a thread stores. In front of the row it wraps around, and is not below the width either.
uint first_stored(uint row) { return walk.first_column - stored_before(row); }

// Stores results of a row of all planes, the y-th of the thread: the vector that holds the first of them.
void store_results(uint row, uint y, uint4 own) {
  const uint count = stored_before(row);
  const uint4 stored = vector_across(exchanged(own, y & 1), own, count);
  if (y >= walk.rows) return;
  const uint vector_ = (row * shape.output_width + walk.first_column) / COLUMNS;
  // Of the vector's elements, those of the row.
  const int first = walk.first_column == 0 ? int(count) : 0;
  const int end = int(shape.output_width) - int(walk.first_column) + int(count);
  if (first == 0 && end >= int(COLUMNS)) {
    store_words(vector_ * STORED, STORED, stored);
  } else {
    store_part(vector_, stored, first, end);
  }
}
#endif
