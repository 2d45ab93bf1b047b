import { Type } from 'typebox';
import { asAnyone, type OperationTable } from './operation.ts';
import { OneOf } from './shapes.ts';

/** The process runs. */
export const Liveness = Type.Object({ status: OneOf(['alive']) });

/** The server accepts requests. */
export const Readiness = Type.Object({ status: OneOf(['ready']) });

/** The server accepts no requests. */
export const Unreadiness = Type.Object({
	status: OneOf(['not ready']),
	reason: Type.String({
		description:
			'The reason, for programs: `starting`, `stopping`, or why the server cannot write: `disk_full`, `disk_error`, `disk_stalled`, `database_damaged`, `database_read_only`, `database_busy`, `database_gone`, `database_taken_over`, `writer_ended`; on PostgreSQL `database_unreachable`, `database_full`, `lease_ended`.',
		examples: ['disk_full'],
	}),
	message: Type.String({
		description: 'Why, for people.',
		examples: ['The disk is full: nothing can be stored.'],
	}),
});

/**
 * Operations for load balancers and monitors. They are outside the API: no credential, no rate limit, any query, and they are
 * served while the server drains.
 */
export const serverStateOperations = {
	getLiveness: {
		method: 'GET',
		path: '/healthz',
		summary: 'Check whether the process runs',
		description: 'For a supervisor that restarts a process which does not respond. It checks nothing else.',
		tag: 'Server',
		access: asAnyone,
		result: Liveness,
	},
	getReadiness: {
		method: 'GET',
		path: '/readyz',
		summary: 'Check whether the server accepts requests',
		description:
			'For a load balancer. 503 while the server starts, while it stops, and while it cannot write to its database, or serves no conversations as a node of a cluster.',
		tag: 'Server',
		access: asAnyone,
		result: Readiness,
	},
} as const satisfies OperationTable;
