export { builtinProvider } from './model.ts';
