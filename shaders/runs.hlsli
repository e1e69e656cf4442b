// Runs of elements of 1, 2 or 4 bytes that are moved bit for bit. The host makes two of 4 bytes of an element of 8.

// The 16 bytes from element `at` of an input on, which must have them. `input` as in load_word.
uint4 load_run(uint input, uint at, uint size) {
  const uint first = size == 4 ? at : size == 2 ? at >> 1 : at >> 2;
  const uint shift = size == 4 ? 0 : size == 2 ? (at & 1) * 16 : (at & 3) * 8;
  const uint4 words = uint4(load_word(input, first), load_word(input, first + 1), load_word(input, first + 2),
                            load_word(input, first + 3));
  if (shift == 0) return words;
  const uint next = load_word(input, first + (shift == 0 ? 3 : 4));
  return words >> shift | uint4(words.y, words.z, words.w, next) << (32 - shift);
}

// An element of a vector that is put together from the first one on.
void put(inout uint4 vector_, uint element, uint bits, uint size) {
  const uint per_word = 4 / size;
  const uint w = element / per_word;
  const uint word = placed(bits, element - w * per_word, size);
  vector_ |= uint4(w == 0 ? word : 0, w == 1 ? word : 0, w == 2 ? word : 0, w == 3 ? word : 0);
}
