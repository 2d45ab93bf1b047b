import { type Clock, type Log, messageOf, PeriodicTask, ThrottledLog, timestamp } from '../base/index.ts';
import type { StatisticsQuery, StatisticsReport, UnansweredGroup, UnansweredQuery } from '../contract/index.ts';
import {
	type FenceOf,
	type FigureQuery,
	fenceOfTask,
	type ListPosition,
	type ShardFence,
	type Store,
	type UncommittedChange,
} from '../store/index.ts';
import { topDocuments, uncitedDocuments } from './documents.ts';
import { groupQuestions } from './group-questions.ts';
import { type GroupPage, listGroups, type Settlement, settleGroup } from './groups.ts';
import { Projector } from './projector.ts';
import { rangeOf } from './range.ts';
import { bucketsOf, figuresOf, modelsOf, Tally } from './report.ts';

export interface StatisticsOptions {
	store: Store;
	clock: Clock;
	log: Log;
	/** Absent: the store has one owner. */
	fenceOf?: FenceOf | undefined;
}

const TRIM_INTERVAL_MS = 3_600_000;
/** Old figures that one commit removes. */
const TRIM_BATCH = 2_000;

/** The figures of a workspace, and its questions without an answer. */
export class Statistics implements AsyncDisposable {
	readonly #store: Store;
	readonly #clock: Clock;
	readonly #projector: Projector;
	readonly #trimming: PeriodicTask;

	constructor({ store, clock, log, fenceOf }: StatisticsOptions) {
		this.#store = store;
		this.#clock = clock;
		const onProgress = (fence: ShardFence | undefined) => groupQuestions(store, clock, fence);
		this.#projector = new Projector({ store, onProgress, log, failures: new ThrottledLog(log), fenceOf });
		this.#trimming = new PeriodicTask({
			intervalMs: TRIM_INTERVAL_MS,
			run: async () => {
				if (fenceOfTask(fenceOf, 'statistics') === null) return;
				await store.commit({ write: [{ op: 'statistics.trim', now: clock.now(), limit: TRIM_BATCH }] });
			},
			onFailure: (error) => log.warn({ error: messageOf(error) }, 'old figures could not be removed'),
		});
	}

	/** Counts what the last process has left, and then each event. */
	start(): void {
		this.#projector.start();
		this.#trimming.start();
	}

	/** @throws AppError `invalid_request` */
	async report(workspaceId: string, query: StatisticsQuery): Promise<StatisticsReport> {
		const range = rangeOf(query, this.#clock.now());
		const is_current = await this.#projector.catchUp();
		const { series, from, to } = range;
		const filter = { workspaceId, deploymentId: query.deployment_id, assistantId: query.assistant_id };
		const { total, tallies } = await this.#sum({ ...filter, series, from, to });
		const before = await this.#sum({ ...filter, series, from: from - (to - from), to: from });
		return {
			from: timestamp(from),
			to: timestamp(to),
			interval: series,
			is_current,
			total: figuresOf(total),
			before: figuresOf(before.total),
			buckets: bucketsOf(tallies, range),
			models: modelsOf(total),
			top_documents: await topDocuments(this.#store, { ...filter, from, to }),
			uncited_documents: await uncitedDocuments(this.#store, workspaceId, query.assistant_id),
		};
	}

	/** A page of the groups of questions without an answer, the most frequent first. */
	async unanswered(
		workspaceId: string,
		filter: Pick<UnansweredQuery, 'status' | 'assistant_id'>,
		page: { limit: number; after: ListPosition | undefined },
	): Promise<GroupPage> {
		await this.#projector.catchUp({ grouped: true });
		return listGroups(this.#store, workspaceId, filter, page);
	}

	/**
	 * Resolves or dismisses a group of questions.
	 * @throws AppError `not_found` also for another workspace's group or document
	 */
	settle(workspaceId: string, id: string, settlement: Settlement): UncommittedChange<UnansweredGroup> {
		return settleGroup(this.#store, workspaceId, id, settlement, this.#clock.now());
	}

	async #sum(query: FigureQuery): Promise<{ total: Tally; tallies: Map<number, Tally> }> {
		const total = new Tally();
		const tallies = new Map<number, Tally>();
		for await (const sums of this.#store.statistics.figures(query)) {
			for (const sum of sums) {
				const tally = tallies.get(sum.start) ?? new Tally();
				tallies.set(sum.start, tally);
				tally.add(sum);
				total.add(sum);
			}
		}
		return { total, tallies };
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#trimming[Symbol.asyncDispose]();
		await this.#projector[Symbol.asyncDispose]();
	}
}
