import type { Callable } from '../load/deploy.ts';
import type { LoadProcess } from '../load/load-process.ts';
import { lengthOf, type ModelScript } from '../load/model-script.ts';
import { type CoresUsed, watchCores } from '../load/processor-time.ts';
import { percentileOf, type Spread, spreadOf } from '../load/spread.ts';
import type { Held, StreamsOrder, StreamsSeen } from '../load/streams.ts';
import type { Figure, Goal, Who } from '../report/figure.ts';
import { deploySpeaking, keepUp, messagesTo, questionsTo, type ScriptedModel } from './stage.ts';

/** After this time a case begins no further round, so that a busy machine does not make the bench endless. */
const CASE_MS = 15_000;

/** So many streams of a model that speaks like this, all the time. */
export interface FirstTokenCase {
	streams: number;
	script: ModelScript;
	seconds: number;
	/** At most. */
	rounds: number;
	/** Of the 95th percentile. */
	goal?: Goal;
}

/** A server that is asked, and its process. */
export interface Contestant extends Callable {
	readonly pid: number;
	readonly who: Who;
}

export interface Stage {
	model: ScriptedModel;
	load: LoadProcess<StreamsOrder, StreamsSeen | Held>;
}

/** What one server has done in a case. */
interface Course {
	contestant: Contestant;
	deployment: string;
	seen: StreamsSeen[];
	cores: CoresUsed[];
}

/** Asks the model and each server in turns, and tells what the servers add to the time to the first token. */
export async function measureFirstToken(
	{ model, load }: Stage,
	contestants: readonly Contestant[],
	{ streams, script, seconds, rounds, goal }: FirstTokenCase,
): Promise<Figure[]> {
	const amount = { streams, seconds, spreadMs: lengthOf(script) };
	const courses: Course[] = [];
	for (const contestant of contestants) {
		courses.push({ contestant, deployment: await deploySpeaking(contestant, script), seen: [], cores: [] });
	}
	const direct: StreamsSeen[] = [];
	const startedAt = performance.now();
	for (let round = 0; round < rounds && (round === 0 || performance.now() - startedAt < CASE_MS); round++) {
		direct.push(await keepUp(load, questionsTo(model, script, amount)));
		for (const { contestant, deployment, seen, cores } of courses) {
			const used = watchCores([contestant.pid, model.pid, load.pid]);
			seen.push(await keepUp(load, messagesTo(contestant, deployment, amount)));
			cores.push(used());
		}
	}

	const name = `first token added, ${streams} ${streams === 1 ? 'stream' : 'streams'}, ${script.everyMs} ms a token`;
	return courses.flatMap(({ contestant: { who }, seen, cores }) => {
		const added = (share: number): Spread => {
			const own = direct.map(({ first }) => percentileOf(first, share));
			return spreadOf(seen.map(({ first }, round) => percentileOf(first, share) - (own[round] as number)));
		};
		const owed = (streams * script.tokens * 1000) / lengthOf(script);
		const pace = spreadOf(seen.map(({ tokens, seconds }) => tokens / seconds / owed)).median;
		return [
			{ name: `${name}: p50`, unit: 'ms', who, value: added(0.5), remark: ways(seen) },
			{
				name: `${name}: p95`,
				unit: 'ms',
				who,
				value: added(0.95),
				...(goal === undefined || who !== 'parley' ? {} : { goal }),
				remark: `${Math.round(pace * 100)} % of its tokens in time; ${coresText(cores)}`,
			},
		];
	});
}

/** Where the time goes: from the client's request to the model's, and from the model's first token to the client. */
function ways(seen: readonly StreamsSeen[]): string {
	const pooled = (way: 'wayIn' | 'wayOut') => {
		const values = seen.flatMap((round) => round[way]);
		return `${percentileOf(values, 0.5).toFixed(1)}/${percentileOf(values, 0.95).toFixed(1)}`;
	};
	return `p50/p95 to the model ${pooled('wayIn')}, back ${pooled('wayOut')} ms`;
}

/** Cores that were busy on average, the middle of several rounds, for people. */
export function coresText(rounds: readonly CoresUsed[]): string {
	const middle = (values: (number | null | undefined)[]) => {
		const known = values.filter((value): value is number => value != null);
		return known.length === 0 ? '?' : spreadOf(known).median.toFixed(2);
	};
	const [server, model, load] = [0, 1, 2].map((index) => middle(rounds.map((used) => used.each[index])));
	const others = middle(rounds.map((used) => used.others));
	return `cores: server ${server}, model ${model}, load ${load}, others ${others}`;
}
