import { move } from 'piscina';
import { Lru, messageOf } from '../src/base/index.ts';
import type { FoldJob, FoldResult, TrainJob, TrainResult, WorkerAnswer } from '../src/contract/index.ts';
import { type Basis, deserialiseBasis, embedChunks, serialiseBasis, trainBasis } from '../src/knowledge/semantic/index.ts';
import { SearchReader } from '../src/store/sqlite/search/index.ts';

/** Bases that stay in memory: documents of one knowledge base come in rows. */
const BASES = 4;

const bases = new Lru<string, Basis>(BASES);

/**
 * Embeds new chunks with a stored basis, or trains a new basis. Reads the database itself, read-only, so that nothing
 * of a whole knowledge base passes through the main thread.
 */
export default async function embed(job: FoldJob | TrainJob): Promise<WorkerAnswer<FoldResult | TrainResult>> {
	using reader = new SearchReader(job.database);
	return job.kind === 'fold' ? fold(reader, job) : train(reader, job);
}

function fold(reader: SearchReader, job: FoldJob): WorkerAnswer<FoldResult> {
	let basis = bases.get(job.basis);
	if (basis === undefined) {
		const model = reader.model(job.basis);
		if (model === undefined) {
			return { ok: false, error: { code: 'unavailable', message: 'The basis was replaced meanwhile. Try again.' } };
		}
		basis = deserialiseBasis(model);
		bases.set(job.basis, basis);
	}
	const { vectors, unknown_share } = embedChunks(basis, job.chunks);
	const value = { vectors, dimensions: basis.dimensions, unknown_share };
	return { ok: true, value };
}
