export { builtinEmbedders, createEmbedders } from './create-embedders.ts';
export { BUILTIN_EMBEDDER, type Embedder, type Embedders } from './embedder.ts';
export { mayPass } from './may-pass.ts';
export { probeEmbedder } from './probe-embedder.ts';
