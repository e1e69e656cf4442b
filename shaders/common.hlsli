// Shared by all kernels. The language is the common subset of glslang, fxc (cs_5_1) and DXC.
//
// Bindings: t0, t1 and t2 hold inputs as 32-bit words, and u0 the output as 16-byte vectors. The 32 words of
// constants are rows of uint4. A thread owns 16 bytes of u0 and stores them once.
// A kernel that defines WORDS_AND_VECTORS loads and stores one, two or four words at once: load_words(),
// store_words(). It has output_words instead of output0.
//
// A kernel is a function run(thread). One that defines WHOLE_GROUPS has run(thread, lane) instead, which all threads of
// a group enter, also those behind the last one, for barriers. One that defines OUTPUT_WORDS has the output as words
// of 32 bits, and a thread owns as many as it says. Kernels must keep these rules:
// - All loops of a thread together have no more iterations than the host states (Stage::work,
//   lib/gpu/device.hpp), because drivers end a thread, or the whole device, that takes too long.
// - Every load is inside its buffer, even if its value is not used: HLSL evaluates both sides of ?:, && and
//   ||, compilers do the same with short branches, and nothing checks the bounds. So clamp the index
//   first, and select the value afterwards.

#ifdef DMLOP_VULKAN
#define DMLOP_INPUT(slot) [[vk::binding(slot)]]
#define DMLOP_OUTPUT [[vk::binding(3)]]
#define DMLOP_REGISTER(name)
// A number that the host chooses when it makes the pipeline; branches on it cost nothing.
#define SPECIALIZED(number, name) [[vk::constant_id(number)]] const uint name = 0;
#else
#define DMLOP_INPUT(slot)
#define DMLOP_OUTPUT
#define DMLOP_REGISTER(name) : register(name)
#define SPECIALIZED(number, name) static const uint name = SPECIALIZATION_##number;
#endif

DMLOP_INPUT(0) StructuredBuffer<uint> input0 DMLOP_REGISTER(t0);
DMLOP_INPUT(1) StructuredBuffer<uint> input1 DMLOP_REGISTER(t1);
DMLOP_INPUT(2) StructuredBuffer<uint4> input2 DMLOP_REGISTER(t2);
#if defined(WORDS_AND_VECTORS)
DMLOP_OUTPUT RWStructuredBuffer<uint> output_words DMLOP_REGISTER(u0);
#ifdef DMLOP_VULKAN
DMLOP_INPUT(0) StructuredBuffer<uint2> input0_pairs;
DMLOP_INPUT(0) StructuredBuffer<uint4> input0_vectors;
DMLOP_OUTPUT RWStructuredBuffer<uint2> output_pairs;
DMLOP_OUTPUT RWStructuredBuffer<uint4> output_vectors;
#endif
#elif defined(OUTPUT_WORDS)
DMLOP_OUTPUT RWStructuredBuffer<uint> output0 DMLOP_REGISTER(u0);
#else
DMLOP_OUTPUT RWStructuredBuffer<uint4> output0 DMLOP_REGISTER(u0);
#endif

#ifdef DMLOP_VULKAN
[[vk::push_constant]] cbuffer Constants {
  uint4 constants[8];
};
#else
// Direct3D forbids arrays in root constants, because it cannot index them.
cbuffer Constants : register(b0) {
  uint4 constants0, constants1, constants2, constants3, constants4, constants5, constants6, constants7;
};
static const uint4 constants[8] = {constants0, constants1, constants2, constants3,
                                   constants4, constants5, constants6, constants7};
#endif

#ifdef WORDS_AND_VECTORS
// Words at, at + 1, ... of input 0: `count` is 1, 2 or 4, which divides `at`; others are 0.
uint4 load_words(uint at, uint count) {
#ifdef DMLOP_VULKAN
  if (count == 4) return input0_vectors[at / 4];
  if (count == 2) return uint4(input0_pairs[at / 2], 0, 0);
#else
  if (count == 4) return uint4(input0[at], input0[at + 1], input0[at + 2], input0[at + 3]);
  if (count == 2) return uint4(input0[at], input0[at + 1], 0, 0);
#endif
  return uint4(input0[at], 0, 0, 0);
}

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

#define GROUP_SIZE 256
#define GROUPS_PER_ROW 65535

// constants[0]: x is the number of output elements. Everything else up to constants[6] belongs to the kernel.
// constants[7] describes a launch (lib/gpu/launches.hpp): x first thread, y end of its threads, z step of the
// stage, w base of the stage.
#define END_OF_THREADS constants[7].y
#define STEP constants[7].z
#define BASE constants[7].w

#ifdef WHOLE_GROUPS
void run(uint thread, uint lane);
#else
void run(uint thread);
#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group : SV_GroupID, uint lane : SV_GroupIndex) {
  const uint thread = constants[7].x + (group.y * GROUPS_PER_ROW + group.x) * GROUP_SIZE + lane;
#ifdef WHOLE_GROUPS
  run(thread, lane);
#else
  if (thread < END_OF_THREADS) run(thread);
#endif
}
