export { openApiDocument } from './document.ts';
export { exampleOf } from './examples.ts';
