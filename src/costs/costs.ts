import { AppError, type Clock, DAY_MS, hasFourDigitYear, timestamp } from '../base/index.ts';
import type { CostSum, CostsPage, CostsQuery } from '../contract/index.ts';
import { dayOf, type ListPosition, type SpendingSum, type SpendingSums, type Store } from '../store/index.ts';

export interface CostsOptions {
	store: Pick<Store, 'spending'>;
	clock: Clock;
	/** The code of ISO 4217 in which prices are. */
	currency: string;
}

/** Which part of the list is read. */
export interface CostsPosition {
	after: ListPosition | undefined;
	limit: number;
}

const DEFAULT_DAYS = 30;
const MAX_DAYS = 800;

/** What replies have cost. */
export class Costs {
	readonly #options: CostsOptions;

	constructor(options: CostsOptions) {
		this.#options = options;
	}

	/**
	 * A page of the sums of a workspace.
	 * @returns also the position of the next page; null after the last
	 * @throws AppError `invalid_request`
	 */
	async list(
		workspaceId: string,
		query: Pick<CostsQuery, 'from' | 'to' | 'group_by' | 'deployment_id'>,
		{ after, limit }: CostsPosition,
	): Promise<{ page: Omit<CostsPage, 'next_cursor'>; next: ListPosition | null }> {
		const { store, clock, currency } = this.#options;
		const { from, to } = rangeOf(query, clock.now());
		const { group_by: groupBy = 'day', deployment_id: deploymentId } = query;
		const [first, last] = [from, to - DAY_MS];
		const found = await store.spending.list({
			...{ workspaceId, groupBy, from: first, to: last, deploymentId, limit: limit + 1 },
			after: after && { spent: after.at, key: after.id },
		});
		const shown = found.slice(0, limit);
		const end = found.length > limit ? shown.at(-1) : undefined;
		const total =
			deploymentId === undefined
				? await store.spending.sumsOf(workspaceId, 'workspace', workspaceId, first, last)
				: await store.spending.sumsOf(workspaceId, 'deployment', deploymentId, first, last);
		return {
			page: {
				data: shown.map((sum) => presentSum(groupBy, sum)),
				from: timestamp(from),
				to: timestamp(to),
				currency,
				total: presentSums(total),
			},
			next: end ? { at: end.spent, id: end.key } : null,
		};
	}
}

function presentSum(groupBy: NonNullable<CostsQuery['group_by']>, sum: SpendingSum): CostSum {
	const { key } = sum;
	return {
		day: groupBy === 'day' ? timestamp(Number(key)) : null,
		// The account of a visitor begins with the deployment.
		deployment_id: groupBy === 'deployment' ? key : groupBy === 'visitor' ? key.slice(0, key.indexOf(':')) : null,
		visitor_id: groupBy === 'visitor' ? key : null,
		model: groupBy === 'model' ? key : null,
		...presentSums(sum),
	};
}

function presentSums({ spent, reserved }: SpendingSums): Pick<CostSum, 'cost_micros' | 'reserved_micros'> {
	return { cost_micros: spent, reserved_micros: reserved };
}

/**
 * The range of a request, extended to whole days: its beginning and its end (ms since the epoch).
 * @throws AppError `invalid_request`
 */
function rangeOf({ from, to }: Pick<CostsQuery, 'from' | 'to'>, now: number): { from: number; to: number } {
	const end = dayOf((to === undefined ? now + 1 : Date.parse(to)) - 1) + DAY_MS;
	const start = from === undefined ? end - DEFAULT_DAYS * DAY_MS : dayOf(Date.parse(from));
	if (!hasFourDigitYear(end)) throw invalid('/to', 'must be before the last day of the year 9999');
	if (!hasFourDigitYear(start)) throw invalid('/from', 'must not be before the year 0');
	if (end <= start) throw invalid('/to', 'must be after from');
	if ((end - start) / DAY_MS > MAX_DAYS) throw invalid('/from', `must be at most ${MAX_DAYS} days before to`);
	return { from: start, to: end };
}

function invalid(path: string, message: string): AppError {
	return new AppError('invalid_request', `${path} ${message}.`, { details: [{ path, message }] });
}
