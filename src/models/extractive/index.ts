export { builtin } from './model.ts';
