import { AppError, messageOf } from '../../base/index.ts';
import { ProviderError } from '../providers/failure.ts';
import type { ProbeOutcome } from '../providers/index.ts';
import type { Embedder } from './embedder.ts';

/** A machine that loads its model first may need most of it. */
const PROBE_MS = 60_000;

/** Tries an embedder with one text. */
export async function probeEmbedder(embedder: Embedder): Promise<ProbeOutcome> {
	const started = performance.now();
	const late = new AppError('model_error', `There was no answer within ${PROBE_MS / 1_000} seconds.`);
	const ending = new AbortController();
	const timer = setTimeout(() => ending.abort(late), PROBE_MS);
	try {
		const vector = await embedder.sample(ending.signal);
		const took = Math.round(performance.now() - started);
		return { ok: true, sentence: `${embedder.id} gives vectors of ${vector.length} values, within ${took} ms.` };
	} catch (error) {
		const detail = error instanceof AppError && error.cause instanceof ProviderError ? error.cause.failure.detail : '';
		const said = detail === '' || messageOf(error).includes(detail) ? '' : ` (${detail})`;
		return { ok: false, sentence: `${messageOf(error)}${said} Asked: ${embedder.id}.` };
	} finally {
		clearTimeout(timer);
	}
}
