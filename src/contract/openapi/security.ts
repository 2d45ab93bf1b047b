import type { OperationAccess } from '../operation.ts';

/** The ways to say who calls. */
export const securitySchemes = {
	apiKey: { type: 'http', scheme: 'bearer', description: 'An API key (`sk_…`), for servers and automation.' },
	session: {
		type: 'apiKey',
		in: 'cookie',
		name: 'parley_session',
		description:
			'The cookie of a signed-in user, for browsers; answers renew it now and then. Requests that change something also need an `Origin` that equals the server’s own.',
	},
	visitorToken: {
		type: 'http',
		scheme: 'bearer',
		bearerFormat: 'JWT',
		description:
			'A JSON Web Token that your website signs for its visitor; needed where the deployment has `features.jwt_required`. `sub` and `exp` are required.',
	},
} as const;

type SecurityRequirement = Partial<Record<keyof typeof securitySchemes, readonly string[]>>;

/** What an operation asks for: any one of these. An empty list: nothing. */
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
