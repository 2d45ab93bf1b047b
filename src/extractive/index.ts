export { PHRASES } from './composing/phrases.ts';
export { type PersonRequest, personRequestIn } from './question/person-request.ts';
export { isSmallTalk } from './question/small-talk.ts';
export type { ExtractiveRequest, QuotablePassage } from './request.ts';
export { streamAnswer } from './stream-answer.ts';
