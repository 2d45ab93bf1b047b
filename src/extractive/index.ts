export { isSmallTalk } from './question/small-talk.ts';
export type { ExtractiveRequest, QuotablePassage } from './request.ts';
export { streamAnswer } from './stream-answer.ts';
