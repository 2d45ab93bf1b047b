export type { Basis } from './basis.ts';
export { embedChunks, type Projection, project, unit, writeInt8 } from './embed.ts';
export { type ChunkTerms, countList, countTerms } from './features.ts';
export { deserialiseBasis, serialiseBasis } from './model-format.ts';
export { trainBasis } from './train.ts';
