import { createHash, createHmac } from 'node:crypto';
import type { Idempotency, IdempotencyClaim } from '../access/index.ts';
import { AppError, type Log, type SecretBox } from '../base/index.ts';
import { type Operation, takesIdempotencyKey } from '../contract/index.ts';
import type { HttpRequest } from '../http/index.ts';
import type { AuditActor, AuditTrail } from './audit-trail.ts';
import { type Call, RawResponse } from './call.ts';
import { OperationResponses } from './operation-responses.ts';

const IDEMPOTENCY_KEY_PATTERN = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;
const EMPTY_BODY_FINGERPRINT = createHash('sha256').digest('hex');

/**
 * The request's Idempotency-Key, null where it has none.
 * @throws AppError `invalid_request`
 */
export function idempotencyKeyOf(request: HttpRequest): string | null {
	const key = request.header('idempotency-key');
	if (key === undefined) return null;
	if (!IDEMPOTENCY_KEY_PATTERN.test(key)) {
		throw new AppError('invalid_request', 'Idempotency-Key must be 1 to 255 printable ASCII characters.');
	}
	return key;
}

/**
 * Rejects a malformed Idempotency-Key of any POST, also where a well-formed one would be ignored.
 * @throws AppError `invalid_request`
 */
export function requireWellFormedKey(request: HttpRequest): void {
	if (request.method === 'POST') idempotencyKeyOf(request);
}

/** SHA-256 of a JSON body in its canonical form (members sorted, similar to RFC 8785): the order of members does not matter. */
export function fingerprintOf(body: unknown): string {
	if (body === undefined) return EMPTY_BODY_FINGERPRINT;
	return createHash('sha256').update(canonicalJson(body)).digest('hex');
}

function canonicalJson(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
	if (typeof value !== 'object' || value === null) return JSON.stringify(value);
	const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
	return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}

/** A request's path in its canonical percent-encoding. */
export function canonicalPathOf({ path }: Operation, { params }: HttpRequest): string {
	return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

export interface IdempotencyOptions {
	idempotency: Idempotency;
	secrets: SecretBox;
	log: Log;
}

/** The part of a call by which a request is executed idempotently. */
export type Idempotent<O extends Operation> = Pick<
	Call<O>,
	'auditWrites' | 'commit' | 'requestReceipt' | 'runIdempotently'
>;

/** Who makes the change of a request, and the trail that records it. Null: the request is not audited. */
export type Audit = { actor: AuditActor; trail: AuditTrail } | null;

export interface IdempotentCall<O extends Operation> extends Idempotent<O> {
	responses: OperationResponses<O>;
}

/**
 * Prepares the idempotent execution of a request, where it is a POST with an Idempotency-Key.
 * @param scope the owner of the key and the operation
 * @param audit records the change in the transaction of the change
 */
export function createIdempotentCall<O extends Operation>(
	operation: O,
	scope: string,
	request: HttpRequest,
	{ idempotency, secrets, log }: IdempotencyOptions,
	audit: Audit = null,
): IdempotentCall<O> {
	const key = takesIdempotencyKey(operation) ? idempotencyKeyOf(request) : null;
	const responses = new OperationResponses(operation, operation.secret ? secrets : null, request, log);
	// A keyed hash: from a plain hash the body could be guessed.
	const keyedFingerprint = (fingerprint: string) =>
		createHmac('sha256', secrets.key('fingerprints')).update(fingerprint).digest('hex');
	let currentClaim: IdempotencyClaim | null = null;
	const auditWrites = (resource: unknown) => audit?.trail.writes(audit.actor, resource) ?? [];
	const runIdempotently: Call<O>['runIdempotently'] = async (fingerprint, executeOnly, replayPending) => {
		const execute: typeof executeOnly = async (claim) => {
			const result = await executeOnly(claim);
			await audit?.trail.recordAfterwards(audit.actor, result);
			return result;
		};
		if (key === null) return execute(null);
		return idempotency.run(
			{ scope, key, fingerprint: keyedFingerprint(fingerprint()) },
			{
				async execute(claim) {
					currentClaim = claim;
					try {
						const result = await execute(claim);
						if (!(result instanceof RawResponse))
							await idempotency.storeReceipt(claim.receipt(responses.toStored(result)));
						return result;
					} catch (error) {
						if (isReplayable(error)) await idempotency.storeReceipt(claim.receipt(responses.toStoredError(error)));
						throw error;
					}
				},
				async replay(stored, claim) {
					if (!stored.pending) return responses.replay(stored);
					if (!replayPending) throw new Error('A pending response was stored for an operation that has none.');
					return responses.markReplayed(await replayPending(stored.pending, claim));
				},
			},
			request.signal,
		);
	};
	return {
		responses,
		runIdempotently,
		auditWrites,
		commit: async (change, present, resource) => {
			audit?.trail.take();
			const committed = await change.commit((result) => {
				const presented = present(result);
				return {
					idempotency: currentClaim?.receipt(responses.toStored(presented)),
					write: auditWrites(resource ? resource(result) : presented),
				};
			});
			return present(committed);
		},
		requestReceipt: () => currentClaim && { ...currentClaim.receiptKey(), status: operation.status ?? 200 },
	};
}

/** Whether an error depends on the request alone, not on the caller or the time: only then a repeat gets it again. */
function isReplayable(error: unknown): boolean {
	if (!(error instanceof AppError)) return false;
	const { status, code } = error;
	const dependsOnCaller = code === 'insufficient_scope' || code === 'forbidden' || code === 'csrf_failed';
	return (
		status >= 400 &&
		status < 500 &&
		status !== 401 &&
		status !== 412 &&
		status !== 429 &&
		code !== 'invalid_request' &&
		// The next period of the budget, or a larger budget, allows it.
		code !== 'usage_limit_reached' &&
		!dependsOnCaller
	);
}
