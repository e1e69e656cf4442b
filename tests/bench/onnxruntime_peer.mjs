// onnxruntime_peer.mjs MODEL.onnx TYPE SIZES SECONDS [LEVEL]: in ONNX Runtime on the CPU, on all cores, the
// median seconds of one run, those of loading, and the peak memory in MiB, Node.js included. LEVEL is that of
// the graph's optimization. Needs the npm package onnxruntime-node in ONNXRUNTIME_MODULES or beside this file.
import { createRequire } from 'node:module';
import os from 'node:os';

const folder = process.env.ONNXRUNTIME_MODULES ?? import.meta.dirname;
const ort = createRequire(folder + '/')('onnxruntime-node');
const [model, type, sizesText, secondsText, level] = process.argv.slice(2);
const sizes = sizesText.split('x').map(Number);
const count = sizes.reduce((a, b) => a * b, 1);
const kinds = {
  FLOAT32: ['float32', Float32Array],
  FLOAT64: ['float64', Float64Array],
  FLOAT16: ['float16', Uint16Array],
  UINT8: ['uint8', Uint8Array],
};
const [name, Kind] = kinds[type];
const data = new Kind(count);
for (let i = 0; i < count; ++i) {
  // FLOAT16 as bits of numbers from 1 to 2.
  data[i] = type === 'FLOAT16' ? 0x3c00 + (Math.random() * 1024) : Math.random() * 255;
}
const before = performance.now();
const session = await ort.InferenceSession.create(model, {
  intraOpNumThreads: os.cpus().length,
  graphOptimizationLevel: level ?? 'all',
});
const loading = (performance.now() - before) / 1000;
const feeds = { x: new ort.Tensor(name, data, sizes) };
await session.run(feeds);
const seconds = [];
const start = performance.now();
while (seconds.length < 3 || performance.now() - start < Number(secondsText) * 1000) {
  const before = performance.now();
  await session.run(feeds);
  seconds.push((performance.now() - before) / 1000);
}
seconds.sort((a, b) => a - b);
console.log(seconds[Math.floor(seconds.length / 2)], loading, process.resourceUsage().maxRSS / 1024);
