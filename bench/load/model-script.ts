/** Timing of a scripted model, in milliseconds. */
export interface ModelScript {
	/** From the request's arrival to the first token. */
	firstTokenMs: number;
	/** Between two tokens; 0: all at once. */
	tokenIntervalMs: number;
	tokens: number;
}

/** The end of each token's text, which occurs nowhere else in a stream: tokens are counted by it. */
export const TOKEN_END = '~';

/** Text of the first token: when the request arrived and when the answer started, by `monotonicMs`. */
export const FIRST_TOKEN = /@(\d+\.\d+)\/(\d+\.\d+)~/;

/** The model name for a timing. */
export function modelNamed({ firstTokenMs, tokenIntervalMs, tokens }: ModelScript): string {
	return `first-${firstTokenMs}-every-${tokenIntervalMs}-tokens-${tokens}`;
}

/** The timing of a model name, which may have a provider's prefix. */
export function scriptOf(model: string): ModelScript {
	const found = /^(?:scripted\/)?first-(\d+)-every-(\d+)-tokens-(\d+)$/.exec(model);
	if (found === null) throw new Error(`There is no scripted model called ${model}.`);
	return { firstTokenMs: Number(found[1]), tokenIntervalMs: Number(found[2]), tokens: Number(found[3]) };
}

/** Duration of a complete answer (ms). */
export function durationOf({ firstTokenMs, tokenIntervalMs, tokens }: ModelScript): number {
	return firstTokenMs + tokenIntervalMs * (tokens - 1);
}

/** Milliseconds of the machine's monotonic clock, which all processes share. */
export function monotonicMs(): number {
	const [seconds, nanoseconds] = process.hrtime();
	return seconds * 1000 + nanoseconds / 1e6;
}
