// What all kernels share. The language is the common subset of glslang, fxc (cs_5_1) and DXC.
//
// Bindings: t0, t1, t2 hold inputs as 32-bit words, u0 the output as 16-byte vectors; 32 words of
// constants are rows of uint4. A thread owns 16 bytes of output and stores them once.

#ifdef DMLOP_VULKAN
#define DMLOP_INPUT(slot) [[vk::binding(slot)]]
#define DMLOP_OUTPUT [[vk::binding(3)]]
#define DMLOP_REGISTER(name)
#define DMLOP_CONSTANTS [[vk::push_constant]]
#else
#define DMLOP_INPUT(slot)
#define DMLOP_OUTPUT
#define DMLOP_REGISTER(name) : register(name)
#define DMLOP_CONSTANTS
#endif

DMLOP_INPUT(0) StructuredBuffer<uint> input0 DMLOP_REGISTER(t0);
DMLOP_INPUT(1) StructuredBuffer<uint> input1 DMLOP_REGISTER(t1);
DMLOP_INPUT(2) StructuredBuffer<uint4> input2 DMLOP_REGISTER(t2);
DMLOP_OUTPUT RWStructuredBuffer<uint4> output0 DMLOP_REGISTER(u0);

DMLOP_CONSTANTS cbuffer Constants DMLOP_REGISTER(b0) {
  uint4 constants[8];
};

#define GROUP_SIZE 256

// constants[0]: x output elements, y thread groups per row of the dispatch.
uint thread_index(uint3 group, uint lane) {
  return (group.y * constants[0].y + group.x) * GROUP_SIZE + lane;
}
