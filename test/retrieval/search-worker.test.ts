import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type Database from 'better-sqlite3';
import { createLog } from '../../src/base/index.ts';
import type { SearchJob, SearchResult, TrainResult } from '../../src/contract/index.ts';
import { createWorkerPool, type WorkerPool } from '../../src/pool/index.ts';
import { type Dialogue, dialogueContext } from '../../src/retrieval/index.ts';
import type { IndexWrite } from '../../src/store/index.ts';
import { openWritable } from '../../src/store/sqlite/connection.ts';
import { migrate } from '../../src/store/sqlite/migrations.ts';
import { applyIndexWrite } from '../../src/store/sqlite/search-index.ts';
import { analyse } from '../../src/text/index.ts';

const SHOP: Array<[id: string, language: string | null, title: string, text: string]> = [
	[
		'returns',
		'en',
		'Returns',
		'You can send products back within thirty days. The refund is paid to your card after we receive the parcel.',
	],
	[
		'shipping',
		'en',
		'Shipping',
		'Orders leave our warehouse within two days. Delivery to islands takes a week longer.',
	],
	[
		'warranty',
		'en',
		'Warranty',
		'All bicycles have a warranty of two years that covers the frame, the fork and the brakes.',
	],
	['payment', 'en', 'Payment', 'We accept credit cards, bank transfer and invoices for companies.'],
	[
		'account',
		'en',
		'Your account',
		'To reset a forgotten password, open the login page and follow the link that we send by mail.',
	],
	['hours', 'en', 'Opening hours', 'The shop is open from Monday to Saturday between nine and six.'],
	[
		'rueckgabe',
		'de',
		'Rückgabe',
		'Produkte können innerhalb von dreißig Tagen zurückgegeben werden. Die Erstattung erfolgt auf Ihre Karte.',
	],
];
const LIBRARY: typeof SHOP = [
	['loans', 'en', 'Loans', 'Readers may borrow ten books for a month and extend the loan twice.'],
	['fees', 'en', 'Fees', 'A late book costs a fee of one coin for each day.'],
];
/** `SLA` is defined in one document, and another one has the short form or the long form alone. */
const CONTRACTS: typeof SHOP = [
	[
		'terms',
		'en',
		'Terms',
		'The Service Level Agreement (SLA) is a part of each contract. It is signed by both parties.',
	],
	[
		'uptime',
		'en',
		'Uptime',
		'The service level agreement promises that the platform is available on each day of the month.',
	],
	['support', 'en', 'Support', 'According to the SLA our engineers respond to urgent tickets within an hour.'],
	['abroad', 'en', 'Parcels', 'Parcels to the United Kingdom need a form for customs.'],
	['taxes', 'en', 'Invoices', 'Invoices to companies in the EU have no VAT.'],
	['holidays', 'en', 'Closing', 'The office is closed in the second week of October.'],
];

let folder: string;
let database: string;
let db: Database.Database;
let pool: WorkerPool;

before(async () => {
	folder = mkdtempSync(join(tmpdir(), 'parley-search-'));
	database = join(folder, 'test.db');
	db = openWritable(database);
	migrate(db);
	pool = createWorkerPool({ threads: 1, log: createLog('silent') });
	for (const [generation, documents] of [
		['gen_shop', SHOP],
		['gen_library', LIBRARY],
		['gen_contracts', CONTRACTS],
	] as const) {
		fill(generation, documents);
		await train(generation, `basis_${generation}`);
	}
	fill('gen_untrained', SHOP);
});

after(async () => {
	await pool[Symbol.asyncDispose]();
	db.close();
	rmSync(folder, { recursive: true, force: true });
});

function write(...writes: IndexWrite[]): void {
	db.transaction(() => {
		for (const one of writes) applyIndexWrite(db, one);
	})();
}

function fill(generation: string, documents: typeof SHOP): void {
	write({ op: 'index.open_generation', generation, knowledge_base_id: `kb_${generation}`, embedder: 'builtin' });
	for (const [document_id, language, title, text] of documents) {
		const terms = { title_terms: analyse(title, language).join(' '), body_terms: analyse(text, language).join(' ') };
		const chunks = [{ text, heading_path: [title], page: null, ...terms }];
		const url = `https://shop.example/${document_id}`;
		const place = { generation, document_id, title, url, language, chunks };
		write({ op: 'index.add_document', ...place, basis: null, vectors: null });
	}
}

async function train(generation: string, basis: string): Promise<TrainResult> {
	const trained = await pool.train({ kind: 'train', database, generation, chunks: [], tuned: false });
	const { dimensions, trained_on, model, stored_ids, stored_vectors } = trained;
	write(
		{ op: 'index.open_basis', generation, basis, dimensions, trained_on, model },
		{ op: 'index.add_vectors', basis, chunk_ids: stored_ids, vectors: stored_vectors },
		{ op: 'index.serve_basis', generation, basis },
	);
	return trained;
}

type Options = Partial<Omit<SearchJob, 'targets'> & SearchJob['targets'][number]> & {
	generations?: string[];
	earlier?: Dialogue['earlier'];
};

function ask(query: string, options: Options = {}): Promise<SearchResult> {
	const {
		generations = ['gen_shop'],
		hybrid = true,
		semantic_weight = 0.5,
		top_k = 5,
		min_score = 0,
		earlier = [],
		synonyms,
	} = options;
	const targets = generations.map((generation) => ({
		knowledge_base_id: `kb_${generation}`,
		generation,
		basis: `basis_${generation}`,
		hybrid,
		semantic_weight,
	}));
	const context = dialogueContext({ message: query, earlier }) ?? undefined;
	return pool.search({ database, targets, query, context, synonyms, top_k, min_score });
}

const first = async (query: string, options?: Options) => (await ask(query, options)).hits[0]?.document_id;

test('a question finds the document that answers it, in other words of the same stem', async () => {
	assert.equal(await first('How do I return a product?'), 'returns');
	assert.equal(await first('resetting my password'), 'account');
	assert.equal(await first('which credit card'), 'payment');
});

test('a hit carries what a citation needs', async () => {
	const [hit] = (await ask('warranty of bicycles', { top_k: 1 })).hits;
	assert.ok(hit);
	const { score, semantic_score, keyword_score, ...rest } = hit;
	assert.deepEqual(rest, {
		knowledge_base_id: 'kb_gen_shop',
		document_id: 'warranty',
		chunk_id: 'warranty.0',
		title: 'Warranty',
		url: 'https://shop.example/warranty',
		text: SHOP[2]?.[3],
		heading_path: ['Warranty'],
		page: null,
	});
	assert.equal(keyword_score, 1);
	for (const value of [score, semantic_score]) assert.ok(value > 0.3 && value <= 1, String(value));
});

test('a question in the language of one document finds it among others', async () => {
	assert.equal(await first('Wie kann ich Produkte zurückgeben?'), 'rueckgabe');
});

test('corrects a typing error', async () => {
	assert.equal(await first('warrenty'), 'warranty');
	assert.equal(await first('bicylces'), 'warranty');
});

test('finds acronyms by their long forms, and the reverse', async () => {
	const generations = ['gen_contracts'];
	const found = async (query: string) => (await ask(query, { generations })).hits.map(({ document_id }) => document_id);
	assert.deepEqual((await found('SLA')).slice(0, 3).sort(), ['support', 'terms', 'uptime']);
	assert.deepEqual((await found('service level agreement')).slice(0, 3).sort(), ['support', 'terms', 'uptime']);
	assert.equal((await found('shipping to the UK'))[0], 'abroad');
	assert.equal((await found('value added tax'))[0], 'taxes');
	assert.equal((await found('closed in oct'))[0], 'holidays');
	const { confidence } = await ask('customs for the UK', { generations });
	assert.ok(confidence > 0.5, `a long form is evidence as the short one is: ${confidence}`);
});

test('a synonym of a thesaurus replaces a word that no document has, and costs confidence', async () => {
	const synonyms = [{ word: 'guarantee', synonyms: ['warranty', 'pledge'] }];
	assert.notEqual(await first('guarantee'), 'warranty');
	assert.equal(await first('guarantee', { synonyms }), 'warranty');
	const [plain, replaced] = [await ask('warranty'), await ask('guarantee', { synonyms })];
	assert.ok(replaced.confidence > 0.1 && replaced.confidence < plain.confidence);
});

test('each half works alone', async () => {
	assert.equal(await first('refund to my card', { semantic_weight: 0 }), 'returns');
	assert.equal(await first('refund to my card', { semantic_weight: 1 }), 'returns');
	assert.equal(await first('refund to my card', { hybrid: false }), 'returns');
});

test('before the first training the search uses full text, whatever the settings', async () => {
	for (const hybrid of [true, false]) {
		const { hits, confidence } = await ask('refund to my card', { generations: ['gen_untrained'], hybrid });
		assert.equal(hits[0]?.document_id, 'returns');
		assert.equal(hits[0]?.semantic_score, 0);
		assert.ok(confidence > 0.3);
	}
});

test('returns hits best first, with scores in 0..1, without those below the minimum score', async () => {
	const { hits } = await ask('how long does the delivery of orders take', { top_k: 50 });
	assert.ok(hits.length > 1);
	hits.forEach((hit, i) => {
		assert.ok(hit.score >= 0 && hit.score <= (hits[i - 1]?.score ?? 1));
	});
	const least = hits[1]?.score as number;
	const fewer = await ask('how long does the delivery of orders take', { top_k: 50, min_score: least });
	assert.deepEqual(
		fewer.hits.map(({ document_id }) => document_id),
		hits.filter(({ score }) => score >= least).map(({ document_id }) => document_id),
	);
});

test('returns the hits of several knowledge bases in one list, best first', async () => {
	const generations = ['gen_shop', 'gen_library'];
	assert.equal(await first('may I borrow books for a month', { generations }), 'loans');
	assert.equal(await first('warranty for brakes', { generations }), 'warranty');
	assert.equal((await ask('days', { generations, top_k: 3 })).hits.length, 3);
});

test('confidence separates questions that the documents answer from questions that they do not answer', async () => {
	const sure = await Promise.all(
		['warranty for brakes', 'forgotten password', 'delivery to islands'].map((q) => ask(q)),
	);
	const unsure = await Promise.all(
		['what is the capital of France', 'quantum gravity in black holes', 'who won the election'].map((q) => ask(q)),
	);
	for (const { confidence } of sure) assert.ok(confidence >= 0.5, String(confidence));
	for (const { confidence } of unsure) assert.ok(confidence < 0.2, String(confidence));
});

test('a question without a known word has no hits', async () => {
	for (const query of ['', '   ', '😀🎉', 'the of and', 'xyzzy', '\u0000', '?!…', '""']) {
		assert.deepEqual(await ask(query), { hits: [], confidence: 0 }, JSON.stringify(query));
	}
});

test('any query is valid', async () => {
	const queries = [
		'refund" OR "*',
		'NEAR(refund card, 2) AND NOT title:x ^y {a b} : c',
		"'; DROP TABLE chunks; --",
		'refund\u0000card',
		'\ud800refund\udfff',
		'refund '.repeat(15_000),
		Array.from({ length: 12_000 }, (_, i) => `refund${i}`).join(' '),
		'r'.repeat(100_000),
		'返品'.repeat(50_000),
		'SELECT * FROM refund WHERE card = %s; -- \\ \u202e',
	];
	for (const query of queries) {
		const { confidence } = await ask(query);
		assert.ok(confidence >= 0 && confidence <= 1, query.slice(0, 20));
	}
	assert.equal(await first('refund" OR "*'), 'returns');
});

test('a dropped generation, or a newer basis than the caller expected, is no error', async () => {
	fill('gen_going', SHOP);
	await train('gen_going', 'basis_gen_going');
	assert.equal(await first('refund', { generations: ['gen_going'] }), 'returns');
	await train('gen_going', 'basis_newer');
	assert.equal(await first('refund', { generations: ['gen_going'] }), 'returns');
	write({ op: 'index.drop_generation', generation: 'gen_going' });
	assert.deepEqual(await ask('refund', { generations: ['gen_going'] }), { hits: [], confidence: 0 });
	assert.equal(await first('refund', { generations: ['gen_going', 'gen_shop'] }), 'returns');
});

test('finds a new document at once with a basis that was trained before it', async () => {
	const text = 'Electric scooters must be registered before they are ridden on the road.';
	const terms = { title_terms: analyse('Scooters', 'en').join(' '), body_terms: analyse(text, 'en').join(' ') };
	fill('gen_growing', SHOP);
	await train('gen_growing', 'basis_gen_growing');
	const {
		vectors,
		terms: counted,
		unknown_terms,
	} = await pool.fold({
		kind: 'fold',
		database,
		basis: 'basis_gen_growing',
		chunks: [terms],
	});
	assert.ok(unknown_terms > 0.3 * counted && unknown_terms < counted, `${unknown_terms} of ${counted}`);
	write({
		op: 'index.add_document',
		generation: 'gen_growing',
		document_id: 'scooters',
		title: 'Scooters',
		url: null,
		language: 'en',
		chunks: [{ text, heading_path: [], page: null, ...terms }],
		basis: 'basis_gen_growing',
		vectors,
	});
	assert.equal(await first('where do I register a scooter', { generations: ['gen_growing'] }), 'scooters');
});

test('folding with a replaced basis returns an error', async () => {
	await assert.rejects(pool.fold({ kind: 'fold', database, basis: 'basis_gone', chunks: [] }), { code: 'unavailable' });
});

test('the first chunks of a knowledge base train a basis before they are stored', async () => {
	const chunks = SHOP.map(([, language, title, text]) => ({
		title_terms: analyse(title, language).join(' '),
		body_terms: analyse(text, language).join(' '),
	}));
	const { stored_ids, stored_vectors, vectors, dimensions, trained_on } = await pool.train({
		kind: 'train',
		database,
		generation: null,
		chunks,
		tuned: false,
	});
	assert.deepEqual([stored_ids, stored_vectors.length, trained_on], [[], 0, chunks.length]);
	assert.equal(vectors.length, chunks.length * dimensions);
});

const ABOUT_BICYCLES: Dialogue['earlier'] = [
	{ role: 'user', content: 'Do you sell bicycles with a warranty?' },
	{ role: 'assistant', content: 'All bicycles have a warranty.' },
];

test('a follow-up finds what its pronoun stands for, with more confidence than alone', async () => {
	const query = 'How many years does it last?';
	for (const generation of ['gen_shop', 'gen_untrained']) {
		const alone = await ask(query, { generations: [generation] });
		const inContext = await ask(query, { generations: [generation], earlier: ABOUT_BICYCLES });
		assert.equal(inContext.hits[0]?.document_id, 'warranty');
		assert.ok(inContext.confidence > alone.confidence, `${generation}: ${inContext.confidence}, ${alone.confidence}`);
		for (const { score, keyword_score, semantic_score } of inContext.hits) {
			for (const value of [score, keyword_score, semantic_score]) assert.ok(value >= 0 && value <= 1);
		}
	}
});

test('a question without words of its own is answered from its context', async () => {
	assert.deepEqual((await ask('Why?')).hits, []);
	assert.equal(await first('Why?', { earlier: ABOUT_BICYCLES }), 'warranty');
});

test('earlier messages change nothing for a message that stands alone', async () => {
	const query = 'Which credit cards and invoices do you accept from companies?';
	assert.deepEqual(await ask(query, { earlier: ABOUT_BICYCLES }), await ask(query));
});
