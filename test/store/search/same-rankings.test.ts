import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { readCollection } from '../../../bench/retrieval/collections.ts';
import type { SearchJob } from '../../../src/contract/index.ts';
import { analyse, detectLanguage } from '../../../src/text/index.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../../support/postgres.ts';
import { Random } from '../../support/random.ts';
import { BothStores } from './both-stores.ts';
import { GeneratedDocuments } from './generated-documents.ts';

const GENERATION = 'gen_1';
const BASIS = 'basis_1';
const DOCUMENTS = 120;
const QUESTIONS = 60;
/** Documents of a shared collection: enough for every kind of ranking. */
const COLLECTION_DOCUMENTS = 250;
const COLLECTION_QUESTIONS = 30;

const cranfield = readCollection('cranfield');

suite('a search ranks alike in both stores', { skip: skipWithoutPostgres }, () => {
	let server: PostgresServer;
	before(async () => {
		server = await startPostgres();
	});
	after(() => server[Symbol.asyncDispose]());

	test('a generated collection in several languages, with removed, replaced and copied documents', async () => {
		await using both = await BothStores.open(await server.database('generated'));
		const generated = new GeneratedDocuments(7);
		const random = new Random(11);
		const searches = () => searchJobs(generated, random, QUESTIONS);
		await both.write(openGeneration(GENERATION));
		const numbers = (first: number, step: number) =>
			Array.from({ length: Math.ceil((DOCUMENTS - first) / step) }, (_, n) => first + n * step);
		await both.write(...numbers(0, 1).map((n) => generated.document(GENERATION, `doc_${n}`)));
		assert.ok((await both.assertSameHits(searches())) > QUESTIONS, 'without a basis');

		const change = async () => {
			await both.write(...numbers(0, 7).map((n) => generated.document(GENERATION, `doc_${n}`)));
			await both.write(...numbers(3, 5).map((n) => remove(`doc_${n}`)));
			await both.write(...numbers(1, 35).map((n) => copy(`doc_${n}`, `doc_copy_${n}`)));
		};
		await change();
		const trained = await both.train(GENERATION);
		const { dimensions, trained_on, model, stored_ids, stored_vectors } = trained;
		await both.write({ op: 'index.open_basis', generation: GENERATION, basis: BASIS, dimensions, trained_on, model });
		await both.write({ op: 'index.add_vectors', basis: BASIS, chunk_ids: stored_ids, vectors: stored_vectors });
		await both.write({ op: 'index.serve_basis', generation: GENERATION, basis: BASIS });
		assert.ok((await both.assertSameHits(searches())) > QUESTIONS, 'with a basis');
		// What the workers have in memory follows.
		await change();
		assert.ok((await both.assertSameHits(searches())) > QUESTIONS, 'after changes');
		await both.assertSame(
			({ reader }) =>
				reader.snapshot(async (index) => {
					const generation = await index.generation(GENERATION);
					const terms = ['refund', 'garanti', 'uk', 'baroti', '配送', 'unknown'];
					return terms.map((term) => [
						generation?.documentFrequency(term),
						generation?.searchKeywords([term, 'colour', term], 1000),
						generation?.searchNearest(
							Int8Array.from({ length: dimensions }, (_, i) => term.length * 9 - i),
							1000,
						),
					]);
				}),
			'frequencies, BM25 and cosines',
		);
	});

	test("vectors of a provider's embedder, and several knowledge bases at once", async () => {
		await using both = await BothStores.open(await server.database('provider'));
		const generated = new GeneratedDocuments(21);
		const random = new Random(22);
		const dimensions = 20;
		const generations = ['gen_a', 'gen_b'];
		const vector = (length: number) => Int8Array.from({ length }, () => random.between(-127, 127));
		for (const generation of generations) {
			const basis = generation.replace('gen', 'basis');
			await both.write(openGeneration(generation, 'acme/vectors'), {
				...{
					op: 'index.open_basis',
					generation,
					basis,
					dimensions,
					trained_on: 0,
					model: new Uint8Array(),
					floor: 0.2,
				},
			});
			await both.write({ op: 'index.serve_basis', generation, basis });
			const documents = Array.from({ length: 60 }, (_, n) => {
				const document = generated.document(generation, `doc_${n % 50}`);
				const vectors = n % 9 === 0 ? null : vector(dimensions * document.chunks.length);
				return { ...document, basis: vectors && basis, vectors };
			});
			await both.write(...documents);
		}
		const jobs = searchJobs(generated, random, 80).map((job) => {
			const question = { embedder: 'acme/vectors', vector: Float32Array.from(vector(dimensions)) };
			const targets = generations.map((generation, at) => ({
				...{ knowledge_base_id: `kb_${at}`, generation, basis: generation.replace('gen', 'basis'), question },
				...{ hybrid: random.chance(0.7), semantic_weight: random.next() },
			}));
			return { ...job, targets };
		});
		assert.ok((await both.assertSameHits(jobs)) > jobs.length);
	});

	test('a shared collection', {
		skip: cranfield ? false : 'the shared retrieval collections are not here',
	}, async () => {
		await using both = await BothStores.open(await server.database('collection'));
		const { documents, questions } = cranfield as NonNullable<typeof cranfield>;
		await both.write(
			openGeneration(GENERATION),
			...documents.slice(0, COLLECTION_DOCUMENTS).map(({ id, title, text }) => {
				const language = detectLanguage(text);
				const terms = {
					title_terms: analyse(title, language).join(' '),
					body_terms: analyse(text, language).join(' '),
				};
				const chunks = [{ text, heading_path: [], page: null, ...terms }];
				const place = { generation: GENERATION, document_id: `doc_${id}`, title, url: null, language };
				return { op: 'index.add_document', ...place, chunks, basis: null, vectors: null } as const;
			}),
		);
		const { dimensions, trained_on, model, stored_ids, stored_vectors } = await both.train(GENERATION);
		await both.write(
			{ op: 'index.open_basis', generation: GENERATION, basis: BASIS, dimensions, trained_on, model },
			{ op: 'index.add_vectors', basis: BASIS, chunk_ids: stored_ids, vectors: stored_vectors },
			{ op: 'index.serve_basis', generation: GENERATION, basis: BASIS },
		);
		const jobs = questions.slice(0, COLLECTION_QUESTIONS).flatMap(({ text: query }) =>
			[0, 0.5, 1].map((semantic_weight) => ({
				...{ query, top_k: 10, min_score: 0 },
				targets: [{ ...TARGET, hybrid: semantic_weight < 1, semantic_weight }],
			})),
		);
		assert.ok((await both.assertSameHits(jobs)) > jobs.length);
	});
});

const TARGET = { knowledge_base_id: 'kb_1', generation: GENERATION, basis: BASIS };

/** Searches with all kinds of settings. */
function searchJobs(generated: GeneratedDocuments, random: Random, count: number): Array<Omit<SearchJob, 'database'>> {
	return Array.from({ length: count }, () => ({
		query: generated.question(),
		top_k: random.between(1, 20),
		min_score: random.chance(0.3) ? 0.1 : 0,
		for_prompt: random.chance(0.5),
		...(random.chance(0.3) && { context: { question: generated.question(), reply: '', weight: random.next() } }),
		targets: [{ ...TARGET, hybrid: random.chance(0.8), semantic_weight: random.next() }],
	}));
}

function openGeneration(generation: string, embedder = 'builtin') {
	return { op: 'index.open_generation', generation, knowledge_base_id: 'kb_1', embedder } as const;
}

function remove(document_id: string) {
	return { op: 'index.remove_document', generation: GENERATION, document_id } as const;
}

function copy(from_document_id: string, document_id: string) {
	const place = { generation: GENERATION, from_document_id, document_id };
	return { op: 'index.copy_document', ...place, title: 'Copy', url: 'https://shop.example/copy' } as const;
}
