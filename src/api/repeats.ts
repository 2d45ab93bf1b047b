import { createHash, createHmac } from 'node:crypto';
import type { Claim, Idempotency } from '../access/index.ts';
import { AppError, type Log, type SecretBox } from '../base/index.ts';
import { type Operation, takesIdempotencyKey } from '../contract/index.ts';
import type { HttpRequest } from '../http/index.ts';
import { PENDING_STATUS } from '../store/index.ts';
import { Answers } from './answers.ts';
import { type Call, RawReply } from './call.ts';

const KEY_FORM = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;
const NOTHING = createHash('sha256').digest('hex');

/**
 * The request's Idempotency-Key, null where it has none.
 * @throws AppError `invalid_request`
 */
export function repeatKey(request: HttpRequest): string | null {
	const key = request.header('idempotency-key');
	if (key === undefined) return null;
	if (!KEY_FORM.test(key)) {
		throw new AppError('invalid_request', 'Idempotency-Key must be 1 to 255 printable ASCII characters.');
	}
	return key;
}

/**
 * Refuses a malformed Idempotency-Key of any POST: also where a sound one would be ignored, the client should learn of it.
 * @throws AppError `invalid_request`
 */
export function requireSoundKey(request: HttpRequest): void {
	if (request.method === 'POST') repeatKey(request);
}

/** SHA-256 of a JSON body in its canonical form (members sorted, RFC 8785 in spirit): the order of members is no difference. */
export function fingerprintOf(body: unknown): string {
	if (body === undefined) return NOTHING;
	return createHash('sha256').update(canonical(body)).digest('hex');
}

function canonical(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
	if (typeof value !== 'object' || value === null) return JSON.stringify(value);
	const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
	return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

/** A request's path in one spelling, however it was percent-encoded. */
export function pathOf({ path }: Operation, { params }: HttpRequest): string {
	return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
}

export interface RepeatOptions {
	idempotency: Idempotency;
	secrets: SecretBox;
	log: Log;
}

/** What a request's handler needs to see to repeats. */
export interface Repeats<O extends Operation> extends Pick<Call<O>, 'receipt' | 'once'> {
	answers: Answers<O>;
}

/**
 * Sees to repeats of a request: where it is a POST that names an Idempotency-Key.
 * @param scope whose key that is, and for what
 */
export function repeatsOf<O extends Operation>(
	operation: O,
	scope: string,
	request: HttpRequest,
	{ idempotency, secrets, log }: RepeatOptions,
): Repeats<O> {
	const key = takesIdempotencyKey(operation) ? repeatKey(request) : null;
	const answers = new Answers(operation, operation.secret ? secrets : null, request, log);
	// Keyed: what a body held could be guessed from a plain hash of it.
	const sealed = (fingerprint: string) =>
		createHmac('sha256', secrets.key('fingerprints')).update(fingerprint).digest('hex');
	let claimed: Claim | null = null;
	const once: Call<O>['once'] = async (fingerprint, execute, pending) => {
		if (key === null) return execute(null);
		return idempotency.run(
			{ scope, key, fingerprint: sealed(fingerprint()) },
			{
				async execute(claim) {
					claimed = claim;
					try {
						const answer = await execute(claim);
						if (!(answer instanceof RawReply)) await idempotency.remember(claim.receipt(answers.stored(answer)));
						return answer;
					} catch (error) {
						if (isLasting(error)) await idempotency.remember(claim.receipt(answers.refused(error)));
						throw error;
					}
				},
				async replay(stored, claim) {
					if (stored.status !== PENDING_STATUS) return answers.again(stored);
					if (!pending) throw new Error('An answer that is yet to come was stored for an operation that has none.');
					return answers.marked(await pending(stored.body, claim));
				},
			},
			request.signal,
		);
	};
	return { answers, once, receipt: (answer) => claimed?.receipt(answers.stored(answer)) };
}

/** Whether a refusal belongs to what was asked for, not to how or when it was asked: only then a repeat gets it again. */
function isLasting(error: unknown): boolean {
	if (!(error instanceof AppError)) return false;
	const { status, code } = error;
	const ofWhoAsks = code === 'insufficient_scope' || code === 'forbidden' || code === 'csrf_failed';
	return (
		status >= 400 &&
		status < 500 &&
		status !== 401 &&
		status !== 412 &&
		status !== 429 &&
		code !== 'invalid_request' &&
		!ofWhoAsks
	);
}
