export { builtinEmbedders, createEmbedders } from './create-embedders.ts';
export { BUILTIN_EMBEDDER, type EmbeddedBatch, type Embedder, type Embedders } from './embedder.ts';
export { probeEmbedder } from './probe-embedder.ts';
export { isProviderFailure, isRecoverable } from './recoverable-failure.ts';
