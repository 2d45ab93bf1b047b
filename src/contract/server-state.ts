import { Type } from 'typebox';
import { asAnyone, type OperationTable } from './operation.ts';
import { OneOf } from './shapes.ts';

/** That the process runs. */
export const Liveness = Type.Object({ status: OneOf(['alive']) });

/** That the server takes requests. */
export const Readiness = Type.Object({ status: OneOf(['ready']) });

/** That the server takes no requests. */
export const Unreadiness = Type.Object({
	status: OneOf(['not ready']),
	reason: Type.String({
		description:
			'Why, for programs: `starting`, `stopping`, or what keeps writes from the disk: `disk_full`, `disk_error`, `disk_stalled`, `database_damaged`, `database_read_only`, `database_busy`, `database_gone`, `writer_ended`.',
		examples: ['disk_full'],
	}),
	message: Type.String({
		description: 'Why, for people.',
		examples: ['The disk is full: nothing can be stored.'],
	}),
});

/**
 * What load balancers and monitors ask. It answers beside the API: without a credential, without a limit, while the server
 * drains, and whatever the query is.
 */
export const serverStateOperations = {
	getLiveness: {
		method: 'GET',
		path: '/healthz',
		summary: 'Tell whether the process runs',
		description: 'For a supervisor that restarts what does not answer. It looks at nothing else.',
		tag: 'Server',
		access: asAnyone,
		result: Liveness,
	},
	getReadiness: {
		method: 'GET',
		path: '/readyz',
		summary: 'Tell whether the server takes requests',
		description:
			'For a load balancer. 503 while the server starts, while it stops, and while it cannot write to its database.',
		tag: 'Server',
		access: asAnyone,
		result: Readiness,
	},
} as const satisfies OperationTable;
