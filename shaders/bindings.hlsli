// How every kernel is bound, and how its threads begin. The language is the common subset of glslang, fxc (cs_5_1) and DXC.
//
// A kernel defines what it is told before it includes this file, as structs of shaders/parameters/:
//   CONSTANTS: up to 28 words that come with each launch, for kernels whose threads do little else than load and store. Only
//   numbers of 32 bits, and uint4 at multiples of 16 bytes: other types are laid out differently in C++.
//   PARAMETERS: a struct of any size in a buffer; t0 holds one.
// And then run(thread). input1 to input8 are the inputs as words of 32 bits, output0 to output2 the outputs as vectors of
// 16 bytes, and scratch what one stage leaves to the next. A thread owns 16 bytes of an output and stores them once.
//
// More definitions change what there is:
//   LOADS_VECTORS: load_vector() loads 16 bytes at once from inputs 1 to 3.
//   LOADS_WORDS, beside it: load_words() loads one, two or four words at once from input 1.
//   STORES_WORDS: output_words takes the place of output0, and store_words() stores one, two or four words at once.
//   OUTPUT_WORDS: output_words alone.
//   WHOLE_GROUPS: the kernel has run(thread, lane), which all threads of a group enter, also those from END_OF_THREADS on:
//   for barriers.
//
// Rules that a kernel must keep:
// - All loops of a thread together have no more iterations than the host states (Stage::work, lib/gpu/device.hpp), because
//   drivers end a thread, or the whole device, that takes too long.
// - Every load is inside its range, even if its value is not used: HLSL evaluates both sides of ?:, && and ||, compilers do
//   the same with short branches, and nothing checks the bounds. So clamp the index first, and select the value afterwards.
//   Ranges end at a multiple of 16 bytes. A kernel whose dispatch says loads_around has more of input 1: 256 bytes in
//   front of its first element, where the range begins, and as many behind the last.

#ifdef DMLOP_VULKAN
#define DMLOP_BUFFER(slot) [[vk::binding(slot)]]
#define DMLOP_REGISTER(name)
#define DMLOP_CONSTANTS [[vk::push_constant]]
// A number that the host chooses when it makes the pipeline; branches on it cost nothing.
#define SPECIALIZED(number, name) [[vk::constant_id(number)]] const uint name = 0;
#else
#define DMLOP_BUFFER(slot)
#define DMLOP_REGISTER(name) : register(name)
#define DMLOP_CONSTANTS
#define SPECIALIZED(number, name) static const uint name = SPECIALIZATION_##number;
#endif

#ifdef PARAMETERS
DMLOP_BUFFER(0) StructuredBuffer<PARAMETERS> parameters DMLOP_REGISTER(t0);
#endif
DMLOP_BUFFER(1) StructuredBuffer<uint> input1 DMLOP_REGISTER(t1);
DMLOP_BUFFER(2) StructuredBuffer<uint> input2 DMLOP_REGISTER(t2);
DMLOP_BUFFER(3) StructuredBuffer<uint> input3 DMLOP_REGISTER(t3);
DMLOP_BUFFER(4) StructuredBuffer<uint> input4 DMLOP_REGISTER(t4);
DMLOP_BUFFER(5) StructuredBuffer<uint> input5 DMLOP_REGISTER(t5);
DMLOP_BUFFER(6) StructuredBuffer<uint> input6 DMLOP_REGISTER(t6);
DMLOP_BUFFER(7) StructuredBuffer<uint> input7 DMLOP_REGISTER(t7);
DMLOP_BUFFER(8) StructuredBuffer<uint> input8 DMLOP_REGISTER(t8);
#if defined(STORES_WORDS) || defined(OUTPUT_WORDS)
DMLOP_BUFFER(9) RWStructuredBuffer<uint> output_words DMLOP_REGISTER(u0);
#else
DMLOP_BUFFER(9) RWStructuredBuffer<uint4> output0 DMLOP_REGISTER(u0);
#endif
DMLOP_BUFFER(10) RWStructuredBuffer<uint4> output1 DMLOP_REGISTER(u1);
DMLOP_BUFFER(11) RWStructuredBuffer<uint4> output2 DMLOP_REGISTER(u2);
DMLOP_BUFFER(12) RWStructuredBuffer<uint> scratch DMLOP_REGISTER(u3);

// x first thread, y end of the threads, z step of the stage, w base of the stage (lib/gpu/launches.hpp).
#ifdef CONSTANTS
DMLOP_CONSTANTS cbuffer Launch DMLOP_REGISTER(b0) {
  uint4 launch;
  CONSTANTS constants;
};
#else
DMLOP_CONSTANTS cbuffer Launch DMLOP_REGISTER(b0) { uint4 launch; };
#endif
#define END_OF_THREADS launch.y
#define STEP launch.z
#define BASE launch.w

// Launches count so many threads for a group, also for those of a kernel that defines a smaller GROUP_SIZE.
#define THREADS_OF_LAUNCH 256
#ifndef GROUP_SIZE
#define GROUP_SIZE THREADS_OF_LAUNCH
#endif
#define GROUPS_PER_ROW 65535

#ifdef WHOLE_GROUPS
void run(uint thread, uint lane);
#else
void run(uint thread);
#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group : SV_GroupID, uint lane : SV_GroupIndex) {
  const uint thread = launch.x + (group.y * GROUPS_PER_ROW + group.x) * THREADS_OF_LAUNCH + lane;
#ifdef WHOLE_GROUPS
  run(thread, lane);
#else
  if (thread < END_OF_THREADS) run(thread);
#endif
}

// Word `at` of input 1 to 8. `input` must be a number that the compiler knows.
uint load_word(uint input, uint at) {
  switch (input) {
    case 1: return input1[at];
    case 2: return input2[at];
    case 3: return input3[at];
    case 4: return input4[at];
    case 5: return input5[at];
    case 6: return input6[at];
    case 7: return input7[at];
  }
  return input8[at];
}

#ifdef LOADS_VECTORS
// Vector `at` of 16 bytes of input 1, 2 or 3.
#ifdef DMLOP_VULKAN
DMLOP_BUFFER(1) StructuredBuffer<uint4> input1_vectors;
DMLOP_BUFFER(2) StructuredBuffer<uint4> input2_vectors;
DMLOP_BUFFER(3) StructuredBuffer<uint4> input3_vectors;
uint4 load_vector(uint input, uint at) {
  if (input == 1) return input1_vectors[at];
  if (input == 2) return input2_vectors[at];
  return input3_vectors[at];
}
#else
uint4 load_vector(uint input, uint at) {
  return uint4(load_word(input, 4 * at), load_word(input, 4 * at + 1), load_word(input, 4 * at + 2),
               load_word(input, 4 * at + 3));
}
#endif
#endif

#ifdef LOADS_WORDS
// Words at, at + 1, ... of input 1: `count` is 1, 2 or 4, which divides `at`; others are any.
#ifdef DMLOP_VULKAN
DMLOP_BUFFER(1) StructuredBuffer<uint2> input1_pairs;
#endif
uint4 load_words(uint at, uint count) {
#ifdef DMLOP_VULKAN
  if (count == 4) return input1_vectors[at / 4];
  if (count == 2) return input1_pairs[at / 2].xyxy;
#else
  if (count == 4) return uint4(input1[at], input1[at + 1], input1[at + 2], input1[at + 3]);
  if (count == 2) return uint4(input1[at], input1[at + 1], 0, 0);
#endif
  return uint4(input1[at], 0, 0, 0);
}
#endif

#ifdef STORES_WORDS
// Stores words at, at + 1, ... of output 0: `count` is 1, 2 or 4, which divides `at`.
#ifdef DMLOP_VULKAN
DMLOP_BUFFER(9) RWStructuredBuffer<uint2> output_pairs;
DMLOP_BUFFER(9) RWStructuredBuffer<uint4> output_vectors;
#endif
void store_words(uint at, uint count, uint4 words) {
#ifdef DMLOP_VULKAN
  if (count == 4) {
    output_vectors[at / 4] = words;
  } else if (count == 2) {
    output_pairs[at / 2] = words.xy;
  } else {
    output_words[at] = words.x;
  }
#else
  output_words[at] = words.x;
  if (count > 1) output_words[at + 1] = words.y;
  if (count > 2) output_words[at + 2] = words.z;
  if (count > 2) output_words[at + 3] = words.w;
#endif
}
#endif
