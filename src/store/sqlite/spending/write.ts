import { DAY_MS } from '../../../base/index.ts';
import type { ErasureCounts } from '../../erasure-record.ts';
import {
	accountOf,
	type Spender,
	type SpendingDimension,
	type SpendingLimit,
	type SpendingWrite,
} from '../../spending.ts';
import { type ErasedEvents, eraseEvents } from '../deliveries.ts';
import { addErased } from '../erasures.ts';
import type { Prepare } from '../statements.ts';

/** Thrown inside a savepoint to roll it back: the reservation would exceed the limits of these accounts. */
export class OverBudgetError extends Error {
	readonly exceeded: SpendingLimit['dimension'][];
	constructor(exceeded: SpendingLimit['dimension'][]) {
		super(`over the budget of ${exceeded.join(', ')}`);
		this.exceeded = exceeded;
	}
}

/** A stored reservation. */
interface Reservation extends Spender {
	message_id: string;
	day: number;
	amount: number;
}

/** Rows that were erased. */
type ErasedSpending = ErasedEvents & Pick<ErasureCounts, 'cost_rows'>;

const DIMENSIONS = ['workspace', 'deployment', 'visitor', 'model'] as const satisfies SpendingDimension[];
const MAX_SUM = Number.MAX_SAFE_INTEGER;
/** Days for which sums of visitors, and all others, are kept: 62 days, 25 months. */
const VISITOR_DAYS = 62;
const OTHER_DAYS = 762;

/** Applies one write about costs. The writer itself refuses `spending.require_visitor`. */
export function applySpendingWrite(
	prepare: Prepare,
	write: Exclude<SpendingWrite, { op: 'spending.require_visitor' }>,
): void {
	switch (write.op) {
		case 'spending.reserve':
			reserve(prepare, write);
			return;
		case 'spending.extend':
			extend(prepare, write);
			return;
		case 'spending.settle': {
			const { message_id, cost, unreserved } = write;
			const reservation = takeReservation(prepare, message_id);
			if (reservation) settle(prepare, reservation, cost);
			else if (unreserved) addToAccounts(prepare, unreserved.spender, unreserved.day, { spent: cost, reserved: 0 });
			return;
		}
		case 'spending.erase_visitors':
			for (const id of write.visitor_ids) {
				addErased(prepare, write.erasure_id, eraseSpendingOfVisitor(prepare, write.workspace_id, id));
			}
			return;
		case 'spending.settle_abandoned':
			for (const reservation of abandonedReservations(prepare)) settleAsReserved(prepare, reservation);
			return;
	}
}

/**
 * Settles the reservations of a conversation that is erased: what its reply has cost will not be known.
 * @returns how many there were
 */
export function settleErasedConversation(prepare: Prepare, conversationId: string): number {
	const reservations = prepare('SELECT * FROM spending_reservations WHERE conversation_id = ?').all(conversationId);
	for (const reservation of reservations as Reservation[]) settleAsReserved(prepare, reservation);
	return reservations.length;
}

/** Whether a visitor whose messages cost something has a conversation. */
export function hasConversation(prepare: Prepare, visitorId: string): boolean {
	return prepare('SELECT 1 FROM conversations WHERE visitor_id = ? LIMIT 1').get(visitorId) !== undefined;
}

/** Removes the sums of a visitor without conversations, and the events about the visitor's budget. */
export function eraseSpendingOfVisitor(prepare: Prepare, workspaceId: string, visitorId: string): ErasedSpending {
	if (hasConversation(prepare, visitorId)) return { ...eraseEvents(prepare, []), cost_rows: 0 };
	const sums = prepare(`DELETE FROM spending WHERE workspace_id = ? AND dimension = 'visitor' AND account = ?`).run(
		workspaceId,
		visitorId,
	).changes;
	const notices = prepare('DELETE FROM budget_notices WHERE account = ?').run(visitorId).changes;
	const seqs = prepare('SELECT seq FROM events WHERE subject = ?').pluck().all(visitorId) as number[];
	return { ...eraseEvents(prepare, seqs), cost_rows: sums + notices };
}

/** Removes sums that are too old, at most `limit` of each kind. */
export function eraseOldSpending(prepare: Prepare, now: number, limit: number): void {
	for (const [dimension, days] of lifetimes()) {
		prepare(
			`DELETE FROM spending WHERE (workspace_id, dimension, account, day) IN
			 (SELECT workspace_id, dimension, account, day FROM spending WHERE dimension = ? AND day < ? LIMIT ?)`,
		).run(dimension, now - days * DAY_MS, limit);
	}
}

/** Whether `eraseOldSpending` would remove any. */
export function hasOldSpending(prepare: Prepare, now: number): boolean {
	const old = prepare('SELECT 1 FROM spending WHERE dimension = ? AND day < ? LIMIT 1');
	return lifetimes().some(([dimension, days]) => old.get(dimension, now - days * DAY_MS) !== undefined);
}

function lifetimes(): Array<[dimension: SpendingDimension, days: number]> {
	return DIMENSIONS.map((dimension) => [dimension, dimension === 'visitor' ? VISITOR_DAYS : OTHER_DAYS]);
}

/** The check and the reservation are one step of the writer: of two at once, the second sees the first. */
function reserve(prepare: Prepare, write: Extract<SpendingWrite, { op: 'spending.reserve' }>): void {
	const { message_id, conversation_id, spender, day, amount, limits } = write;
	requireWithin(prepare, spender, amount, limits);
	prepare(
		`INSERT INTO spending_reservations (message_id, conversation_id, workspace_id, deployment_id, visitor_id, model, day, amount)
		 VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
	).run(
		message_id,
		conversation_id,
		spender.workspace_id,
		spender.deployment_id,
		spender.visitor_id,
		spender.model,
		day,
		amount,
	);
	addToAccounts(prepare, spender, day, { spent: 0, reserved: amount });
}

/** What is added counts on the day of the reservation, so that both are settled as one. */
function extend(prepare: Prepare, write: Extract<SpendingWrite, { op: 'spending.extend' }>): void {
	const { message_id, amount, limits } = write;
	const reservation = prepare('SELECT * FROM spending_reservations WHERE message_id = ?').get(message_id) as
		| Reservation
		| undefined;
	if (!reservation) return;
	requireWithin(prepare, reservation, amount, limits);
	prepare(`UPDATE spending_reservations SET amount = min(amount + ?, ${MAX_SUM}) WHERE message_id = ?`).run(
		amount,
		message_id,
	);
	addToAccounts(prepare, reservation, reservation.day, { spent: 0, reserved: amount });
}

/** @throws OverBudgetError if an amount exceeds limits of a spender */
function requireWithin(prepare: Prepare, spender: Spender, amount: number, limits: readonly SpendingLimit[]): void {
	const exceeded = limits.filter((limit) => totalOf(prepare, spender, limit) + amount > limit.amount);
	if (exceeded.length > 0) throw new OverBudgetError(exceeded.map(({ dimension }) => dimension));
}

function totalOf(prepare: Prepare, spender: Spender, { dimension, from, to }: SpendingLimit): number {
	return prepare(
		`SELECT coalesce(sum(spent + reserved), 0) FROM spending
		 WHERE workspace_id = ? AND dimension = ? AND account = ? AND day BETWEEN ? AND ?`,
	)
		.pluck()
		.get(spender.workspace_id, dimension, accountOf(dimension, spender), from, to) as number;
}

/** Removes the reservation, so that it is settled once. */
function takeReservation(prepare: Prepare, messageId: string): Reservation | undefined {
	return prepare('DELETE FROM spending_reservations WHERE message_id = ? RETURNING *').get(messageId) as
		| Reservation
		| undefined;
}

function settle(prepare: Prepare, reservation: Reservation, cost: number): void {
	addToAccounts(prepare, reservation, reservation.day, { spent: cost, reserved: -reservation.amount });
}

function settleAsReserved(prepare: Prepare, reservation: Reservation): void {
	if (takeReservation(prepare, reservation.message_id)) settle(prepare, reservation, reservation.amount);
}

/** The writer knows of suggestions only their reservations: those of an earlier process have no message. */
function abandonedReservations(prepare: Prepare): Reservation[] {
	return prepare(
		`SELECT * FROM spending_reservations WHERE NOT EXISTS
		 (SELECT 1 FROM messages WHERE id = message_id AND status = 'in_progress')`,
	).all() as Reservation[];
}

function addToAccounts(
	prepare: Prepare,
	spender: Spender,
	day: number,
	{ spent, reserved }: { spent: number; reserved: number },
): void {
	const add = prepare(
		`INSERT INTO spending (workspace_id, dimension, account, day, spent, reserved)
		 VALUES (@workspace, @dimension, @account, @day, @spent, max(@reserved, 0))
		 ON CONFLICT DO UPDATE SET spent = min(spent + @spent, ${MAX_SUM}), reserved = max(min(reserved + @reserved, ${MAX_SUM}), 0)`,
	);
	for (const dimension of DIMENSIONS) {
		const account = accountOf(dimension, spender);
		if (account !== null) add.run({ workspace: spender.workspace_id, dimension, account, day, spent, reserved });
	}
}
