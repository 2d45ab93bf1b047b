import { ID_PREFIXES, newId } from '../../base/index.ts';
import { encodeColumn } from '../columns/columns.ts';
import type { Commit, DeliveryWrite, Expectation, IdempotencyRecord, JobWrite, NewEvent, Write } from '../commit.ts';
import type { Kind } from '../records.ts';
import type { SpendingWrite } from '../spending.ts';
import { toJson } from './to-json.ts';

/** A write of one record. */
export type RecordWrite = Extract<Write, { op: 'insert' | 'patch' | 'remove' }>;

const RECORD_WRITES: ReadonlySet<string> = new Set(['insert', 'patch', 'remove'] satisfies RecordWrite['op'][]);

export function isRecordWrite(write: Write): write is RecordWrite {
	return RECORD_WRITES.has(write.op);
}

/** A write about costs that is part of a message; the function `apply_spending` carries it out. */
export type MessageSpendingWrite = Exclude<
	SpendingWrite,
	{ op: 'spending.erase_visitors' | 'spending.settle_abandoned' }
>;

const MESSAGE_SPENDING_WRITES: ReadonlySet<string> = new Set([
	'spending.reserve',
	'spending.extend',
	'spending.settle',
	'spending.require_visitor',
] satisfies MessageSpendingWrite['op'][]);

/** A write that is part of every attempt at a delivery; the function `write_failure` carries it out. */
export type FailureWrite = Extract<DeliveryWrite, { op: 'record_failure' | 'clear_failures' }>;

const FAILURE_WRITES: ReadonlySet<string> = new Set([
	'record_failure',
	'clear_failures',
] satisfies FailureWrite['op'][]);

export function isFailureWrite(write: Write): write is FailureWrite {
	return FAILURE_WRITES.has(write.op);
}

export function isMessageSpendingWrite(write: Write): write is MessageSpendingWrite {
	return MESSAGE_SPENDING_WRITES.has(write.op);
}

/** A write that needs statements of its own. */
export type ComposedWrite = Exclude<Write, RecordWrite | MessageSpendingWrite | FailureWrite>;

/** A write of one record as `write_record` takes it. Fields are as their columns have them. */
export interface EncodedWrite {
	op: RecordWrite['op'];
	kind: Kind;
	id: string;
	fields: Record<string, unknown> | null;
}

/** @throws Error for a field that the kind does not have */
export function encodeWrite(write: RecordWrite): EncodedWrite {
	const { op, kind } = write;
	if (op === 'remove') return { op, kind, id: write.id, fields: null };
	const given = Object.entries(op === 'insert' ? { ...write.record, version: 1 } : write.set);
	const fields = given.flatMap(([field, value]) =>
		value === undefined ? [] : [[field, encodeField(kind, field, value)] as const],
	);
	return { op, kind, id: op === 'insert' ? write.record.id : write.id, fields: Object.fromEntries(fields) };
}

function encodeField(kind: Kind, field: string, value: unknown): unknown {
	const encoded = encodeColumn(kind, field, value);
	// JSON text: queries look inside, and PostgreSQL refuses the escape of what it cannot store.
	return typeof encoded === 'string' && typeof value !== 'string' ? toJson(value) : encoded;
}

/** An expectation, and whether the commit writes the record too: then no other transaction may expect it meanwhile. */
export interface EncodedExpectation extends Expectation {
	is_written: boolean;
}

export function encodeExpectations({ expect = [], write = [] }: Commit): EncodedExpectation[] {
	const written = new Set(
		write.flatMap((one) => (isRecordWrite(one) && one.op !== 'insert' ? [`${one.kind} ${one.id}`] : [])),
	);
	return expect.map(({ kind, id, version }) => ({ kind, id, version, is_written: written.has(`${kind} ${id}`) }));
}

/** An event as `append_events` takes it; `delivery_id` where webhook endpoints may subscribe to it. */
export interface EncodedEvent extends Omit<NewEvent, 'data'> {
	data: string;
	delivery_id?: string;
}

/** @throws Error when the data of an event is no JSON value */
export function encodeEvents(events: readonly NewEvent[] = []): EncodedEvent[] {
	return events.map(({ id, stream, type, data, subject, created_at }) => {
		const text = toJson(data) as string | undefined;
		if (text === undefined) throw new Error(`The data of the event ${id} is no JSON value.`);
		const deliveryId = stream.startsWith(ID_PREFIXES.conversation) ? {} : { delivery_id: newId('delivery') };
		return { id, stream, type, data: text, subject: subject ?? null, created_at, ...deliveryId };
	});
}

export function encodeResponse(response: IdempotencyRecord): object {
	return response.pending === undefined ? response : { ...response, pending: JSON.stringify(response.pending) };
}

/** A write of a job with the node's time (ms since the epoch): due times are by its clock, and stored by that of the database. */
export function encodeJob(job: JobWrite): JobWrite & { node_now: number } {
	return { ...job, node_now: Date.now() };
}

/** Whether some writes of a commit need statements of their own. */
export function isComposed({ write = [] }: Commit): boolean {
	return write.some((one) => !(isRecordWrite(one) || isMessageSpendingWrite(one) || isFailureWrite(one)));
}

/** A commit as `commit_batch` takes it; null: some of its writes need statements of their own. */
export function encodeCommit(commit: Commit): object | null {
	const { fence, write = [], jobs = [], idempotency } = commit;
	const encoded: Array<EncodedWrite | MessageSpendingWrite | FailureWrite> = [];
	for (const one of write) {
		if (isRecordWrite(one)) encoded.push(encodeWrite(one));
		else if (isMessageSpendingWrite(one) || isFailureWrite(one)) encoded.push(one);
		else return null;
	}
	return {
		...(fence && { fence }),
		...(idempotency && { idempotency: encodeResponse(idempotency) }),
		expect: encodeExpectations(commit),
		write: encoded,
		jobs: jobs.map(encodeJob),
		events: encodeEvents(commit.events),
	};
}
