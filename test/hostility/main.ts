// A program: hostile clients beside honest ones. scripts/hostility.mjs starts it.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';
import { call, deploy } from '../../bench/load/deploy.ts';
import { startLoadProcess } from '../../bench/load/load-process.ts';
import { descriptorsOf, residentBytesOf } from '../soak/process-figures.ts';
import { percentile } from '../soak/slope.ts';
import { ModelServer } from '../support/model-server.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import type { AttackOrder, AttackResult } from './attacker.ts';
import { type Scenario, scenariosOf } from './scenarios.ts';

/** The latency that honest clients may have in any case (ms), or twice their latency without an attack. */
const MAX_P95_MS = 10;
const MAX_RATIO = 2;
/** Between two requests of an honest client. */
const HONEST_PAUSE_MS = 10;
const MIB = 1024 * 1024;
/** An attack ends after this time, whatever happens. */
const ATTACK_LIMIT_MS = 120_000;

const { values } = parseArgs({
	options: {
		seconds: { type: 'string', default: '8' },
		scale: { type: 'string', default: '1' },
		only: { type: 'string', default: '' },
	},
});
const seconds = Number(values.seconds);
const scale = Number(values.scale);
if (!(seconds > 0) || !(scale > 0 && scale <= 1))
	throw new Error('--seconds needs a number above 0, --scale one from 0 to 1.');

/** Latencies of honest requests, and those that were not answered with 200. They come from another address than the attack. */
async function honest(
	server: ServerProcess,
	deployment: string,
	signal: AbortSignal,
): Promise<{ ms: number[]; failed: string[] }> {
	const agent = new Agent({ connections: 4, localAddress: '127.0.0.2' });
	const paths = ['/healthz', `/api/v1/widget/config?deployment_id=${deployment}`, '/api/v1/assistants?limit=1'];
	const headers = { origin: 'https://shop.example', authorization: `Bearer ${server.key}` };
	const ms: number[] = [];
	const failed: string[] = [];
	for (let at = 0; !signal.aborted; at++) {
		// A visitor has 600 configurations a minute.
		const path = paths[at % 30 === 1 ? 1 : at % 2 === 0 ? 0 : 2] as string;
		const begun = performance.now();
		try {
			const { statusCode, body } = await request(server.url + path, {
				dispatcher: agent,
				headers: path === '/healthz' ? {} : headers,
				headersTimeout: 20_000,
			});
			await body.dump();
			if (statusCode !== 200) failed.push(`${path}: ${statusCode}`);
		} catch (error) {
			failed.push(`${path}: ${(error as Error).message}`);
		}
		ms.push(performance.now() - begun);
		await sleep(HONEST_PAUSE_MS);
	}
	await agent.close();
	return { ms, failed };
}

/** The highest resident memory and the most descriptors while the signal is not aborted. */
async function watch(pid: number, signal: AbortSignal): Promise<{ bytes: number; descriptors: number }> {
	const most = { bytes: 0, descriptors: 0 };
	while (!signal.aborted) {
		most.bytes = Math.max(most.bytes, await residentBytesOf(pid));
		most.descriptors = Math.max(most.descriptors, await descriptorsOf(pid));
		await sleep(100);
	}
	return most;
}

/** Carries out a scenario. @returns a line for the report, and whether every bound was kept */
async function carryOut(server: ServerProcess, scenario: Scenario, deployment: string): Promise<boolean> {
	const before = new AbortController();
	setTimeout(() => before.abort(), Math.min(seconds, 4) * 1000);
	const quiet = await honest(server, deployment, before.signal);
	const base = await residentBytesOf(server.pid);

	const during = new AbortController();
	const load = honest(server, deployment, during.signal);
	const most = watch(server.pid, during.signal);
	const attackers = scenario.orders.map((order) => ({
		order,
		process: startLoadProcess<AttackOrder, AttackResult>(new URL('./attacker.ts', import.meta.url)),
	}));
	let results: AttackResult[];
	try {
		results = await Promise.all(attackers.map(({ order, process }) => process.send(order, ATTACK_LIMIT_MS)));
		await scenario.meanwhile?.();
		if (scenario.orders.some((order) => 'hold' in order)) {
			await sleep(seconds * 1000);
			// Held connections get most of their answers meanwhile.
			results = await Promise.all(attackers.map(({ process }) => process.send({ report: true }, ATTACK_LIMIT_MS)));
		}
	} catch (error) {
		console.log(`FAILED ${scenario.name}: could not be carried out: ${(error as Error).message}`);
		return false;
	} finally {
		during.abort();
		for (const { process } of attackers) process[Symbol.dispose]();
		await Promise.all([load, most]);
	}
	const [busy, peak] = await Promise.all([load, most]);

	const p95 = [quiet, busy].map(({ ms }) => percentile(ms, 0.95)) as [number, number];
	const growth = peak.bytes - base;
	const statuses: Record<string, number> = {};
	for (const [status, count] of results.flatMap((result) => Object.entries(result.statuses))) {
		statuses[status] = (statuses[status] ?? 0) + count;
	}
	const problems = [
		p95[1] > Math.max(MAX_P95_MS, MAX_RATIO * p95[0]) && 'honest clients wait too long',
		growth > scenario.maxGrowthBytes && `the memory grew beyond ${Math.round(scenario.maxGrowthBytes / MIB)} MiB`,
		busy.failed.length > 0 && `honest requests failed: ${[...new Set(busy.failed)].slice(0, 3).join(', ')}`,
		scenario.statuses &&
			!scenario.statuses.some((status) => status in statuses) &&
			`no answer has status ${scenario.statuses.join(' or ')}`,
		Object.keys(statuses).some((status) => status === '500') && 'an answer has status 500',
	].filter((problem) => typeof problem === 'string');
	console.log(
		`${problems.length === 0 ? 'ok    ' : 'FAILED'} ${scenario.name}: p95 ${p95[0].toFixed(1)} → ${p95[1].toFixed(1)} ms in ${busy.ms.length} requests, memory +${Math.round(growth / MIB)} MiB, ` +
			`${results.map(({ open, closed }) => `${open} open and ${closed} closed`).join('; ')}, ${peak.descriptors} descriptors, answers ${JSON.stringify(statuses)}${problems.map((problem) => `\n       ${problem}`).join('')}`,
	);
	return problems.length === 0;
}

let isDone = false;
await using model = await ModelServer.start();
const providers = [{ id: 'slow', type: 'openai-compatible', base_url: model.baseUrl }];
model.setDefault([{ pause: 20 }, { say: 'Hello.' }]);
await using server = await startServer({
	env: {
		PARLEY_PROVIDERS: JSON.stringify(providers),
		PARLEY_ALLOW_PRIVATE_NETWORK: '1',
		PARLEY_LOG_LEVEL: 'fatal',
		PARLEY_REQUEST_LOG: '0',
	},
	// As many descriptors as this user may have.
	wrapperCommand: ['sh', '-c', 'ulimit -n "$(ulimit -H -n)"; exec "$0" "$@"'],
});
void server.exited.then(({ code, signal }) => {
	if (isDone) return;
	console.log(`FAILED the server ended: ${signal ?? code}\n${server.output().slice(-4_000)}`);
	process.exit(1);
});
const deployment = await deploy(
	server,
	{ model: 'slow/small' },
	{ allowed_domains: ['shop.example'], rate_limit: { messages_per_minute: 20 } },
);
const conversations: string[] = [];
for (let at = 0; at < 6; at++)
	conversations.push(
		(await call(server, 'POST', '/api/v1/messages', { deployment_id: deployment, content: 'Hello' })).conversation_id,
	);
const scenarios = scenariosOf(server, { deployment, conversations }, scale, seconds).filter(({ name }) =>
	name.includes(values.only),
);
let failed = 0;
for (const scenario of scenarios) if (!(await carryOut(server, scenario, deployment))) failed++;
isDone = true;
process.exitCode = failed === 0 ? 0 : 1;
