import { type Clock, DAY_MS, type Log, messageOf, newId, timestamp } from '../base/index.ts';
import type { Budget } from '../contract/index.ts';
import {
	accountOf,
	type Commit,
	dayOf,
	type Spender,
	type SpendingLimit,
	type SpendingSums,
	type Store,
} from '../store/index.ts';

export interface BudgetsOptions {
	store: Pick<Store, 'commit' | 'get' | 'spending'>;
	clock: Clock;
	log: Log;
	/** The code of ISO 4217 in which budgets are. */
	currency: string;
}

/** A budget of one of a spender's accounts, in the period of a time. */
export interface BudgetLimit extends SpendingLimit {
	account: string;
	budget: Budget;
}

/** A message or a round that budgets do not allow. */
export interface Refusal {
	exceeded: readonly SpendingLimit['dimension'][];
	/** What is reserved for the reply itself. */
	reserved: number;
}

const NO_REFUSAL: Refusal = { exceeded: [], reserved: 0 };

type Level = 'warning' | 'reached';

/** Percent of a budget from which on webhooks get a warning. */
const WARNING_PERCENT = 80;
/** A notice outlives its period by this time: the clock may be set back. */
const NOTICE_GRACE_MS = 2 * DAY_MS;

/** Budgets of workspaces, deployments and visitors. The writer enforces them; this finds and reports them. */
export class Budgets {
	readonly #options: BudgetsOptions;

	constructor(options: BudgetsOptions) {
		this.#options = options;
	}

	/** The budgets that limit a spender at a time; empty where none does. */
	async limitsOf(spender: Spender, now: number): Promise<BudgetLimit[]> {
		const { store } = this.#options;
		const [workspace, deployment] = await Promise.all([
			store.get('workspaces', spender.workspace_id),
			store.get('deployments', spender.deployment_id),
		]);
		const budgets = [
			['workspace', workspace?.budget],
			['deployment', deployment?.budget],
			['visitor', deployment?.visitor_budget],
		] as const;
		return budgets.flatMap(([dimension, budget]) => {
			const account = accountOf(dimension, spender);
			if (!budget || account === null) return [];
			return [{ dimension, account, budget, amount: budget.amount_micros, ...periodOf(budget, now) }];
		});
	}

	/**
	 * Tells the webhooks of each budget of a spender that is nearly or wholly used, once for each period. If it fails or the process
	 * ends before, the next message of the spender makes up for it.
	 * @param at a time in the periods of the budgets: when the reply was reserved, which may have been before midnight
	 * @param refusal budgets that do not allow a message or a round, and what is reserved for its reply
	 */
	async report(spender: Spender, at: number, refusal: Refusal = NO_REFUSAL): Promise<void> {
		try {
			for (const limit of await this.limitsOf(spender, at)) {
				await this.#reportLimit(spender, limit, refusal);
			}
		} catch (error) {
			this.#options.log.warn({ error: messageOf(error) }, 'the use of a budget could not be reported');
		}
	}

	async #reportLimit(spender: Spender, limit: BudgetLimit, { exceeded, reserved }: Refusal): Promise<void> {
		const { dimension, account, from, to, amount } = limit;
		const { spending } = this.#options.store;
		const sums = await spending.sumsOf(spender.workspace_id, dimension, account, from, to);
		// A refusal beside other running replies may be due to what is reserved for them, and not be the end of the budget.
		const isUsed = sums.spent >= amount || (exceeded.includes(dimension) && sums.reserved <= reserved);
		if (isUsed) await this.#notify('reached', spender, limit, sums);
		else if (isNearlyUsed(sums.spent, amount)) await this.#notify('warning', spender, limit, sums);
	}

	async #notify(level: Level, spender: Spender, limit: BudgetLimit, sums: SpendingSums): Promise<void> {
		const { store, clock } = this.#options;
		const isKnown = async (each: Level) => (await store.get('budget_notices', noticeId(each, limit))) !== undefined;
		if ((await isKnown('reached')) || (await isKnown(level))) return;
		// Of two at once, one commit is a conflict: the other has told the webhooks.
		await store.commit(this.#noticeCommit(level, spender, limit, sums, clock.now()));
	}

	#noticeCommit(level: Level, spender: Spender, limit: BudgetLimit, sums: SpendingSums, now: number): Commit {
		const { workspace_id, deployment_id, visitor_id } = spender;
		const { dimension, account, budget, from, to } = limit;
		const id = noticeId(level, limit);
		const expires_at = to + DAY_MS + NOTICE_GRACE_MS;
		const visitorId = dimension === 'visitor' ? visitor_id : null;
		const data = {
			scope: dimension,
			deployment_id: dimension === 'workspace' ? null : deployment_id,
			visitor_id: visitorId,
			period: budget.period,
			period_start: timestamp(from),
			amount_micros: budget.amount_micros,
			cost_micros: sums.spent,
			reserved_micros: sums.reserved,
			currency: this.#options.currency,
			at_limit: budget.at_limit,
		};
		return {
			expect: [{ kind: 'budget_notices', id, version: 0 }],
			write: [
				{ op: 'insert', kind: 'budget_notices', record: { id, workspace_id, account, created_at: now, expires_at } },
				// The event has the visitor's id. An erasure of the visitor removes it, and none is stored without a conversation.
				...(visitorId === null ? [] : [{ op: 'spending.require_visitor', visitor_id: visitorId } as const]),
			],
			events: [
				{
					id: newId('event'),
					stream: workspace_id,
					type: `budget.${level}`,
					data,
					subject: visitorId,
					created_at: now,
				},
			],
		};
	}
}

/** The first and the last day of the period of a budget, in UTC. */
function periodOf({ period }: Budget, now: number): { from: number; to: number } {
	if (period === 'day') return { from: dayOf(now), to: dayOf(now) };
	const date = new Date(now);
	const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
	return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 0) };
}

function isNearlyUsed(spent: number, amount: number): boolean {
	return spent >= (amount / 100) * WARNING_PERCENT;
}

/** A budget whose amount is changed counts as another one. */
function noticeId(level: Level, { dimension, account, budget, from }: BudgetLimit): string {
	return `${level} ${dimension} ${account} ${budget.period} ${from} ${budget.amount_micros}`;
}
