import { setTimeout as sleep } from 'node:timers/promises';
import { type LoadProcess, startLoadProcess } from '../../bench/load/load-process.ts';
import { descriptorsOf, residentBytesOf } from '../soak/process-figures.ts';
import { heldBy } from '../support/held-by-server.ts';
import { until } from '../support/until.ts';
import type { AttackOrder, AttackResult } from './attacker.ts';
import { type HonestFigures, type Latencies, noFigures, useHonestly } from './honest-clients.ts';
import { type Extent, type HeldByAttack, MIB, type Scenario, type ScenarioBase } from './scenario.ts';
import { type ServerSize, startTarget, type Target } from './target.ts';

/** An attack ends after this time, whatever happens. */
const ATTACK_LIMIT_MS = 120_000;
/** A busy machine takes longer to answer or to close connections. */
const DEADLINE_MS = 60_000;
/** Descriptors that a server may open for itself meanwhile: a worker's, a file's. */
const OWN_DESCRIPTORS = 24;

/** Observations of a scenario. */
export interface Outcome {
	name: string;
	/** Figures of honest clients before and during the attack. */
	quiet: HonestFigures;
	busy: HonestFigures;
	/** The latencies of `busy` since all connections were open. Null for a flood, which opens none to hold them. */
	whileHeld: Latencies | null;
	attack: AttackResult;
	/** What the server held of what the scenario demands. */
	held: HeldByAttack;
	growthBytes: number;
	/** The most descriptors at a time. */
	descriptors: number;
	/** Sentences about what must never happen, however busy the machine is. */
	problems: string[];
}

/** Carries out scenarios, one after the other, on servers that it starts. Yields what was seen of each. */
export async function* carryOut(scenarios: readonly Scenario[], extent: Extent): AsyncGenerator<Outcome> {
	using attacker = startLoadProcess<AttackOrder, AttackResult>(new URL('./attacker.ts', import.meta.url));
	for (const size of ['large', 'small'] satisfies ServerSize[]) {
		const own = scenarios.filter((scenario) => (scenario.size ?? 'large') === size);
		if (own.length === 0) continue;
		await using target = await startTarget(size);
		await useHonestly(target, AbortSignal.timeout(1_000));
		const { descriptors } = await heldBy(target.server);
		for (const scenario of own) yield await attack(target, attacker, scenario, extent, descriptors);
	}
}

/** @param descriptors those of the server before all attacks */
async function attack(
	target: Target,
	attacker: LoadProcess<AttackOrder, AttackResult>,
	scenario: Scenario,
	{ seconds, quietSeconds, spareBytes }: Extent,
	descriptors: number,
): Promise<Outcome> {
	const { server } = target;
	const order = await scenario.order(target);
	const quiet = await useHonestly(target, AbortSignal.timeout(quietSeconds * 1000));
	const base = await residentBytesOf(server.pid);

	const during = new AbortController();
	const busy = noFigures();
	const load = useHonestly(target, during.signal, busy);
	const most = watch(server.pid, during.signal);
	const begun = performance.now();
	let result: AttackResult;
	let heldAtOnce: HeldByAttack = {};
	let openedAfter: { reads: number; messages: number } | null = null;
	try {
		result = await attacker.send(order, ATTACK_LIMIT_MS);
		heldAtOnce = await mostHeld(target, scenario.held ?? {});
		if ('hold' in order) openedAfter = { reads: busy.reads.length, messages: busy.messages.length };
		await scenario.meanwhile?.(target);
		// Held connections get most of their answers meanwhile.
		if ('hold' in order) result = await held(attacker, scenario, seconds);
	} finally {
		during.abort();
		await Promise.all([load, most]);
	}
	const minutes = (performance.now() - begun) / 60_000;
	await attacker.send({ release: true }, ATTACK_LIMIT_MS);
	const peak = await most;
	const whileHeld = openedAfter && {
		// Without the request of each kind that was under way then.
		reads: busy.reads.slice(openedAfter.reads + 1),
		messages: busy.messages.slice(openedAfter.messages + 1),
	};
	const growthBytes = peak.bytes - base;
	const maxGrowthBytes = scenario.maxGrowthBytes + spareBytes;
	const seen = { busy, attack: result, held: heldAtOnce, growthBytes };
	const problems = problemsOf({ ...scenario, maxGrowthBytes }, { ...seen, minutes });
	problems.push(...(await whatIsStillHeld(target, descriptors)));
	return { name: scenario.name, quiet, whileHeld, ...seen, descriptors: peak.descriptors, problems };
}

/** Waits until the server holds what a scenario demands, which a busy one accepts later. @returns the most that it held of each */
async function mostHeld({ server }: Target, demanded: HeldByAttack): Promise<HeldByAttack> {
	const most: HeldByAttack = {};
	const deadline = performance.now() + DEADLINE_MS;
	while (missing(demanded, most).length > 0 && performance.now() < deadline) {
		const found = await heldBy(server);
		for (const kind of kindsOf(demanded)) most[kind] = Math.max(most[kind] ?? 0, found[kind]);
		// `/metrics` lists the server's descriptors on its main thread, which takes milliseconds.
		await sleep(100);
	}
	return most;
}

/** Sentences about what the server did not hold although the attack is about it. */
function missing(demanded: HeldByAttack, most: HeldByAttack): string[] {
	return kindsOf(demanded)
		.filter((kind) => (most[kind] ?? 0) < (demanded[kind] ?? 0))
		.map((kind) => `${most[kind] ?? 0} ${kind} were open at once, the attack needs ${demanded[kind]}`);
}

function kindsOf(demanded: HeldByAttack): Array<keyof HeldByAttack> {
	return (['connections', 'streams'] as const).filter((kind) => demanded[kind] !== undefined);
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

/** Holds the connections for some seconds, and until one has an expected answer. */
async function held(
	attacker: LoadProcess<AttackOrder, AttackResult>,
	{ expected }: Scenario,
	seconds: number,
): Promise<AttackResult> {
	await sleep(seconds * 1000);
	const deadline = performance.now() + DEADLINE_MS;
	for (;;) {
		const result = await attacker.send({ report: true }, ATTACK_LIMIT_MS);
		if (!expected || hasStatus(result, expected) || performance.now() > deadline) return result;
		await sleep(100);
	}
}

function hasStatus({ statuses }: AttackResult, expected: readonly number[]): boolean {
	return expected.some((status) => status in statuses);
}

/** Sentences about what must not be, however busy the machine is. */
export function problemsOf(
	{
		maxGrowthBytes,
		held = {},
		expected,
		leastClosed = 0,
		maxAdmitted,
	}: Pick<ScenarioBase, 'maxGrowthBytes' | 'held' | 'expected' | 'leastClosed' | 'maxAdmitted'>,
	seen: Pick<Outcome, 'busy' | 'attack' | 'held' | 'growthBytes'> & { minutes: number },
): string[] {
	const { busy, attack, growthBytes, minutes } = seen;
	const admitted = (attack.statuses[200] ?? 0) + (attack.statuses[201] ?? 0);
	const limit = maxAdmitted?.(minutes) ?? Number.POSITIVE_INFINITY;
	return [
		...missing(held, seen.held),
		growthBytes > maxGrowthBytes && `the memory grew beyond ${Math.round(maxGrowthBytes / MIB)} MiB`,
		busy.failed.length > 0 && `honest requests failed: ${[...new Set(busy.failed)].slice(0, 3).join(', ')}`,
		leastClosed > 0 && Object.keys(attack.statuses).length > 0 && 'there were answers instead of closed connections',
		attack.closed < leastClosed && `${attack.closed} connections were closed, ${leastClosed} must be`,
		expected && !hasStatus(attack, expected) && `no answer has status ${expected.join(' or ')}`,
		admitted > limit && `${admitted} hostile requests were admitted, ${limit} may be`,
		'500' in attack.statuses && 'an answer has status 500',
	].filter((problem) => typeof problem === 'string');
}

/** Waits until the server has released what the attack held. @returns a sentence if it has not */
async function whatIsStillHeld({ server }: Target, descriptors: number): Promise<string[]> {
	let last = '';
	const isReleased = async () => {
		const held = await heldBy(server);
		last = JSON.stringify(held);
		// One connection is that of the request for these figures.
		const isBefore = held.descriptors <= descriptors + OWN_DESCRIPTORS;
		return held.connections <= 1 && held.streams === 0 && held.waiting === 0 && isBefore;
	};
	return until('everything is released', isReleased, DEADLINE_MS).then(
		() => [],
		() => [
			`the server still holds ${last}, and had ${descriptors} descriptors before\n${server.output().slice(-2_000)}`,
		],
	);
}
