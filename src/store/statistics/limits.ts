/** Questions without an answer that are kept for one workspace. */
export const MAX_QUESTIONS = 2_000;
/** Characters of a question that are kept. */
export const MAX_QUESTION_CHARS = 500;
/** For how long the figures by hour are kept (ms). Those by day are kept for ever: they are few. */
export const HOURS_KEPT_MS = 60 * 24 * 3_600_000;
