import { AppError } from '../../base/index.ts';
import { failedProbe, type ProbeOutcome } from '../providers/index.ts';
import type { Embedder } from './embedder.ts';

/** A machine that has to load its model may need most of this time. */
const PROBE_TIMEOUT_MS = 60_000;

/** Tests an embedder with one text. */
export async function probeEmbedder(embedder: Embedder): Promise<ProbeOutcome> {
	const started = performance.now();
	const timeout = new AppError('model_error', `There was no response within ${PROBE_TIMEOUT_MS / 1_000} seconds.`);
	const controller = new AbortController();
	const timer = setTimeout(() => controller.abort(timeout), PROBE_TIMEOUT_MS);
	try {
		const vector = await embedder.sample(controller.signal);
		const elapsedMs = Math.round(performance.now() - started);
		return {
			sentence: `${embedder.id} gives vectors of ${vector.length} values, within ${elapsedMs} ms.`,
			remedy: null,
		};
	} catch (error) {
		return failedProbe(error, ` The test asked ${embedder.id}.`);
	} finally {
		clearTimeout(timer);
	}
}
