import { inspectable } from '../../bench/load/memory.ts';
import { seeded } from '../../bench/search/random.ts';
import { AsyncDisposableStack } from '../../src/base/index.ts';
import { type ModelBehaviour, type ModelScript, ModelServer } from '../support/model-server.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { type Counts, type DataSizes, Workload } from './workload.ts';

const WORDS: ModelScript = [
	{ say: 'It left ' },
	{ pause: 50 },
	{ say: 'the house ' },
	{ pause: 50 },
	{ say: 'today.' },
];

/** What the model does instead of answering, and how often in relation to the others. */
const MODEL_FAULTS: ReadonlyArray<readonly [name: string, weight: number, script: ModelScript]> = [
	['model 500', 3, [{ status: 500, body: '{}' }]],
	['model 429', 2, [{ status: 429, body: '{}' }]],
	['model closes the connection', 2, [...WORDS, { die: true }]],
	['model resets the connection', 1, [{ say: 'It' }, { reset: true }]],
	['model reports an error', 1, [...WORDS, { error: { message: 'no more' } }]],
	['model breaks its format', 1, [{ say: 'It' }, { raw: 'data: {"choi\n\n' }]],
];
/** The names of the model's faults. */
export const MODEL_FAULT_NAMES: readonly string[] = MODEL_FAULTS.map(([name]) => name);

export interface SoakOptions {
	seed: number;
	/** The part of the model's calls that fail. */
	faultRate?: number;
	sizes?: DataSizes;
}

/** A server, what uses it, and a model that fails now and then. */
export interface Soak extends AsyncDisposable {
	server: ServerProcess;
	workload: Workload;
	/** How often the model has failed in each way. */
	faults: Counts;
}

/** Starts a server whose memory can be measured, and prepares the workload. */
export async function startSoak({ seed, faultRate = 0.1, sizes }: SoakOptions): Promise<Soak> {
	await using owned = new AsyncDisposableStack();
	const random = seeded(seed);
	const faults: Counts = {};
	const model = owned.use(await ModelServer.start());
	model.setDefault(failing(faultRate, random, faults));
	const server = owned.use(
		await startServer({
			env: {
				PARLEY_PROVIDERS: JSON.stringify([{ id: 'soak', type: 'openai-compatible', base_url: model.baseUrl }]),
				PARLEY_ALLOW_PRIVATE_NETWORK: '1',
				PARLEY_LOG_LEVEL: 'fatal',
				PARLEY_REQUEST_LOG: '0',
			},
			wrapperCommand: inspectable(),
		}),
	);
	const workload = await Workload.open(server, 'soak/small', random, sizes);
	const stack = owned.move();
	return { server, workload, faults, [Symbol.asyncDispose]: () => stack[Symbol.asyncDispose]() };
}

/** Mostly answers, and fails in every way. */
function failing(rate: number, random: () => number, faults: Counts): ModelBehaviour {
	const total = MODEL_FAULTS.reduce((sum, [, weight]) => sum + weight, 0);
	return () => {
		let dice = (random() / rate) * total;
		for (const [name, weight, script] of MODEL_FAULTS) {
			dice -= weight;
			if (dice >= 0) continue;
			faults[name] = (faults[name] ?? 0) + 1;
			return script;
		}
		return WORDS;
	};
}
