/** How a scripted model speaks. Times in milliseconds. */
export interface ModelScript {
	/** From the request's arrival to the first token. */
	firstTokenMs: number;
	/** Between two tokens; 0: all come at once. */
	tokenIntervalMs: number;
	tokens: number;
}

/** What the text of a token ends with, and nothing else in a stream holds: tokens are counted by it. */
export const TOKEN_END = '~';

/** What the first token holds: when the model had been asked, and when it began to answer, by `monotonicMs`. */
export const FIRST_TOKEN = /@(\d+\.\d+)\/(\d+\.\d+)~/;

/** The name by which a model is asked to speak like this. */
export function modelNamed({ firstTokenMs, tokenIntervalMs, tokens }: ModelScript): string {
	return `first-${firstTokenMs}-every-${tokenIntervalMs}-tokens-${tokens}`;
}

/** How the model of this name speaks; its provider's name may stand before it. */
export function scriptOf(model: string): ModelScript {
	const found = /^(?:scripted\/)?first-(\d+)-every-(\d+)-tokens-(\d+)$/.exec(model);
	if (found === null) throw new Error(`There is no scripted model called ${model}.`);
	return { firstTokenMs: Number(found[1]), tokenIntervalMs: Number(found[2]), tokens: Number(found[3]) };
}

/** Milliseconds that a whole answer takes. */
export function durationOf({ firstTokenMs, tokenIntervalMs, tokens }: ModelScript): number {
	return firstTokenMs + tokenIntervalMs * (tokens - 1);
}

/** Milliseconds on the machine's monotonic clock, which all its processes share. */
export function monotonicMs(): number {
	const [seconds, nanoseconds] = process.hrtime();
	return seconds * 1000 + nanoseconds / 1e6;
}
