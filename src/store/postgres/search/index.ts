export { dropGenerationsOf } from './generations.ts';
