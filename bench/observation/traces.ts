import { durationOf } from '../load/model-script.ts';
import { processorTime } from '../load/processor-time.ts';
import type { Spread } from '../load/spread.ts';
import type { MessageCase } from '../messages/cases.ts';
import {
	type BenchProcesses,
	deployScripted,
	messagesTo,
	type ServerUnderTest,
	sustainStreams,
} from '../messages/processes.ts';

/** Seconds of a round. Short rounds, so that both ways have the same minutes of the machine. */
const ROUND_SECONDS = 1;
const SPREAD_MS = 50;
const GROUPS = 4;
const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331';

/**
 * The processor time that recording its trace adds to a message, in percent. One server gets messages whose trace is recorded and others whose trace is
 * not, in turns: two processes differ by more than this without any traces. The median is that of all rounds together, the lowest and the
 * highest are of parts of them.
 * @param server records the traces that the caller records
 */
export async function costOfTraces(
	{ load }: BenchProcesses,
	server: ServerUnderTest,
	{ script, streams }: MessageCase,
	pairs: number,
): Promise<Spread> {
	const deployment = await deployScripted(server, script);
	const amount = { streams, seconds: ROUND_SECONDS, spreadMs: SPREAD_MS + durationOf(script) };
	const groups = Array.from({ length: Math.min(GROUPS, pairs) }, () => [new Sum(), new Sum()] as const);
	const measure = async (isRecorded: boolean, sum: Sum) => {
		const order = messagesTo(server, deployment, amount, [`traceparent: ${CALLER}-0${isRecorded ? 1 : 0}`]);
		const before = processorTime(server.pid) ?? 0;
		const seen = await sustainStreams(load, order);
		sum.add((processorTime(server.pid) ?? 0) - before, seen.completed);
	};
	for (let pair = -1; pair < pairs; pair++) {
		// The first pair is not counted.
		const [recorded, other] =
			pair < 0 ? [new Sum(), new Sum()] : (groups[pair % groups.length] as (typeof groups)[number]);
		if (pair % 2 === 0) await measure(true, recorded);
		await measure(false, other);
		if (pair % 2 !== 0) await measure(true, recorded);
	}
	const added = (of: typeof groups) =>
		100 * (Sum.of(of.map(([recorded]) => recorded)) / Sum.of(of.map(([, other]) => other)) - 1);
	const each = groups.map((group) => added([group]));
	return { median: added(groups), lowest: Math.min(...each), highest: Math.max(...each) };
}

/** Processor time of messages. */
class Sum {
	#seconds = 0;
	#messages = 0;

	add(seconds: number, messages: number): void {
		this.#seconds += seconds;
		this.#messages += messages;
	}

	/** Seconds of a message in all sums. */
	static of(sums: readonly Sum[]): number {
		const total = (value: (sum: Sum) => number) => sums.reduce((all, sum) => all + value(sum), 0);
		return total((sum) => sum.#seconds) / total((sum) => sum.#messages);
	}
}
