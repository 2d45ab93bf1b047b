// Apart from the other entry points, so that only the worker that trains loads the linear algebra.
export { trainBasis } from './train.ts';
