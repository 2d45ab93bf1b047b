import type { OperationAccess } from '../operation.ts';

/** The security schemes. */
export const securitySchemes = {
	apiKey: { type: 'http', scheme: 'bearer', description: 'An API key (`sk_…`), for servers and automation.' },
	session: {
		type: 'apiKey',
		in: 'cookie',
		name: 'parley_session',
		description:
			'The cookie of a signed-in user, for browsers. Responses renew it from time to time. Requests that change something also need an `Origin` that equals the server’s own.',
	},
	visitorToken: {
		type: 'http',
		scheme: 'bearer',
		bearerFormat: 'JWT',
		description:
			'A JSON Web Token that your website signs for its visitor. Required if the deployment has `features.jwt_required`. It needs `sub` and `exp`.',
	},
} as const;

type SecurityRequirement = Partial<Record<keyof typeof securitySchemes, readonly string[]>>;

/** The alternatives of which a request must meet one. An empty list: no credential. */
export function securityOf(access: OperationAccess): SecurityRequirement[] {
	switch (access.kind) {
		case 'key':
			return [{ apiKey: [] }, { session: [] }];
		case 'session':
			return [{ session: [] }];
		case 'widget':
			return access.token ? [{}, { visitorToken: [] }] : [];
		case 'public':
			return [];
	}
}
