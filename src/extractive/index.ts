export type { ExtractiveRequest, QuotablePassage } from './request.ts';
export { streamAnswer } from './stream-answer.ts';
