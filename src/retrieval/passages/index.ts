export { distinctPassages } from './distinct-passages.ts';
export { textAfter, textBefore } from './neighbouring-text.ts';
