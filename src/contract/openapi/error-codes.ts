import { ERROR_CODES, type ErrorCode } from '../../base/index.ts';
import { type Operation, takesIdempotencyKey } from '../operation.ts';
import { operations } from '../operations.ts';

const table: readonly Operation[] = Object.values(operations);

/** Paths whose GET returns a resource with a version. */
const versionedPaths = new Set(
	table.flatMap(({ method, path, versioned }) => (method === 'GET' && versioned ? [path] : [])),
);

/** Whether an operation changes or removes a resource with a version, and so accepts If-Match. */
export function honoursIfMatch({ method, path, versioned }: Operation): boolean {
	return (method === 'PATCH' || method === 'DELETE') && (versioned === true || versionedPaths.has(path));
}

/** The error codes of an operation, by status: those that follow from its description, and those that it names itself. */
export function errorCodesOf(operation: Operation): Map<number, ErrorCode[]> {
	const codes = new Set<ErrorCode>([
		'invalid_request',
		...(operation.method === 'GET' ? [] : (['invalid_json', 'unsupported_content_type', 'payload_too_large'] as const)),
		...(takesCursor(operation) ? (['invalid_cursor'] as const) : []),
		...(takesIdempotencyKey(operation) ? (['idempotency_key_reused'] as const) : []),
		...accessCodes(operation),
		...(referencesResource(operation) ? (['not_found'] as const) : []),
		...(honoursIfMatch(operation) ? (['precondition_failed'] as const) : []),
		...(operation.errors ?? []),
		'internal_error',
		'unavailable',
	]);
	const byStatus = new Map<number, ErrorCode[]>();
	// In the order of the published list.
	for (const [code, [status]] of Object.entries(ERROR_CODES) as Array<[ErrorCode, readonly [number, string]]>) {
		if (codes.has(code)) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
	}
	return byStatus;
}

function accessCodes({ method, access }: Operation): ErrorCode[] {
	const csrfCodes: ErrorCode[] = method === 'GET' ? [] : ['csrf_failed'];
	switch (access.kind) {
		case 'key':
			return [
				'unauthorized',
				...csrfCodes,
				// A session that is used from another network.
				'address_not_allowed',
				'second_factor_setup_required',
				// A key without the scope, or a session of a role without it.
				...(access.scope === null ? [] : (['insufficient_scope', 'forbidden'] as const)),
				'rate_limit_exceeded',
			];
		case 'session':
			return ['unauthorized', ...csrfCodes, 'address_not_allowed', 'rate_limit_exceeded'];
		case 'widget':
			return [...(access.token ? (['invalid_jwt'] as const) : []), 'domain_not_allowed', 'rate_limit_exceeded'];
		case 'public':
			return [];
	}
}

function takesCursor({ query }: Operation): boolean {
	return 'cursor' in membersOf(query);
}

/** Whether a request names a resource that may not exist: in its path or body, or as the widget's deployment. */
function referencesResource({ path, body, access }: Operation): boolean {
	return (
		path.includes('{') || access.kind === 'widget' || Object.keys(membersOf(body)).some((name) => /_ids?$/.test(name))
	);
}

function membersOf(schema: object | undefined): object {
	return (schema as { properties?: object } | undefined)?.properties ?? {};
}
