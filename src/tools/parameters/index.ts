export { checkArguments } from './check.ts';
export { compileParameters } from './compile.ts';
