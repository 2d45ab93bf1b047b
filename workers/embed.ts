import { isWorkerThread, move, transferableSymbol, valueSymbol } from 'piscina';
import { LruCache, lowerThreadPriority } from '../src/base/index.ts';
import type { FoldJob, FoldResult, TrainJob, TrainResult, WorkerResult } from '../src/contract/index.ts';
import { type Basis, deserialiseBasis, embedChunks, serialiseBasis } from '../src/retrieval/index.ts';
import { trainBasis, trainTunedBasis } from '../src/retrieval/training/index.ts';
import { openSearchReader, type SearchReader } from '../src/store/search/index.ts';

/** The size of the cache of bases: documents of one knowledge base come in sequence. */
const MAX_BASES = 4;

lowerThreadPriority();

const bases = new LruCache<string, Basis>(MAX_BASES);

/**
 * Embeds new chunks with a stored basis, or trains a new basis. Reads the database itself, read-only, so that the
 * texts of a whole knowledge base never pass through the main thread. A training returns only vectors and row ids.
 */
export default async function embed(job: FoldJob | TrainJob): Promise<WorkerResult<FoldResult | TrainResult>> {
	await using reader = await openSearchReader(job.database);
	return await (job.kind === 'fold' ? fold(reader, job) : train(reader, job));
}

async function fold(reader: SearchReader, job: FoldJob): Promise<WorkerResult<FoldResult>> {
	let basis = bases.get(job.basis);
	if (basis === undefined) {
		const model = await reader.snapshot((index) => index.model(job.basis));
		if (model === undefined) {
			return { ok: false, error: { code: 'unavailable', message: 'The embedding was replaced meanwhile. Try again.' } };
		}
		basis = deserialiseBasis(model);
		bases.set(job.basis, basis);
	}
	const { vectors, terms, unknown_terms } = embedChunks(basis, job.chunks);
	return transferResult({ vectors, dimensions: basis.dimensions, terms, unknown_terms }, [vectors]);
}

async function train(reader: SearchReader, job: TrainJob): Promise<WorkerResult<TrainResult>> {
	// The snapshot ends before the training, which takes long.
	const { generation, exceptDocumentId } = job;
	const stored =
		generation === null ? [] : await reader.snapshot((index) => index.allTerms(generation, exceptDocumentId));
	const chunks = [...stored, ...job.chunks];
	const { basis, semanticWeight } = job.tuned
		? trainTunedBasis(chunks)
		: { basis: trainBasis(chunks), semanticWeight: null };
	const model = serialiseBasis(basis);
	const stored_vectors = embedChunks(basis, stored).vectors;
	const { vectors } = embedChunks(basis, job.chunks);
	const result = {
		model,
		dimensions: basis.dimensions,
		trained_on: chunks.length,
		semantic_weight: semanticWeight,
		stored_ids: stored.map(({ id }) => id),
		stored_vectors,
		vectors,
	};
	return transferResult(result, [model, stored_vectors, vectors]);
}

/** The result. In a worker thread its buffers are transferred, not copied. */
function transferResult<T>(value: T, views: Array<Int8Array | Uint8Array>): WorkerResult<T> {
	const result: WorkerResult<T> = { ok: true, value };
	if (!isWorkerThread) return result;
	const buffers = views.map((view) => view.buffer);
	return move({ [transferableSymbol]: buffers, [valueSymbol]: result }) as unknown as WorkerResult<T>;
}
