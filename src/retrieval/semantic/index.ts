export type { Basis } from './basis.ts';
export { embedChunks, type Projection, project, writeInt8 } from './embed.ts';
export { type ChunkTerms, countTerms, inverseFrequency } from './features.ts';
export { deserialiseBasis, serialiseBasis } from './model-format.ts';
