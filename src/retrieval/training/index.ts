// Apart from the other entry points, so that only the worker that trains loads the linear algebra.
export { type TunedBasis, trainBasis, trainTunedBasis } from './train.ts';
