import { type Static, Type } from 'typebox';
import { BudgetCreate, BudgetOrNull, BudgetPatch } from './budgets.ts';
import { EndUser } from './conversations.ts';
import { type OperationTable, SMALL_BODY, withKey } from './operation.ts';
import { COLOUR, HTTPS_URL_PATTERN, URL_PATTERN, WEB_URL_PATTERN } from './patterns.ts';
import {
	Id,
	NullableInteger,
	NullableObject,
	NullableOneOf,
	NullableText,
	ObjectOrNull,
	OneOf,
	PageOf,
	PageQueryWith,
	Patch,
	Strict,
	Timestamp,
} from './shapes.ts';
import { NullableSingleLineText, OptionalMultilineText, SingleLineText } from './text-shapes.ts';

const name = SingleLineText({ maxLength: 200, examples: ['The shop'] });
const allowed_domains = Type.Array(SingleLineText({ maxLength: 300 }), {
	maxItems: 200,
	description: 'Host sources as in a Content-Security-Policy. Empty: no origin is allowed.',
	examples: [['example.com', '*.example.com']],
});
const time_zone = Type.String({
	format: 'time-zone',
	maxLength: 60,
	description:
		'The time zone of the IANA database in which `builtin/extractive` understands "today", "tomorrow" and "now" in questions about hours and days. Default UTC.',
	examples: ['Europe/London'],
});
const status = OneOf(['active', 'archived']);
const retention_days = NullableInteger({
	minimum: 1,
	maximum: 36_500,
	description:
		'Days for which conversations are kept after their last message, in place of the `retention_days` of the workspace, which it may exceed. Null: as the workspace.',
});

const appearance = {
	primary_color: Type.String({
		pattern: COLOUR,
		description: 'Hex. Default #4f46e5.',
		examples: ['#4f46e5'],
	}),
	theme: OneOf(['light', 'dark', 'auto'], { description: 'Default light.' }),
	position: OneOf(['bottom-right', 'bottom-left'], { description: 'Default bottom-right.' }),
	greeting: OptionalMultilineText({ maxLength: 1000, examples: ['Hello! What would you like to know?'] }),
	suggested_questions: Type.Array(SingleLineText({ maxLength: 200 }), {
		maxItems: 10,
		examples: [['How long is the warranty?']],
	}),
	assistant_name: NullableSingleLineText({
		maxLength: 80,
		description: 'The title at the top of the widget, beside the logo or the initial.',
		examples: ['Kettle help'],
	}),
	status_text: NullableSingleLineText({
		maxLength: 120,
		description: 'One line below the name, after the disclosure.',
		examples: ['Answers from our manuals'],
	}),
	logo_url: NullableText({
		maxLength: 2000,
		pattern: HTTPS_URL_PATTERN,
		description:
			'A square image at the top of the widget. https. Pages with a Content-Security-Policy must allow it in img-src. If it cannot be loaded, the widget shows the initial of the name.',
		examples: ['https://shop.example/logo.png'],
	}),
	privacy_url: NullableText({
		maxLength: 2000,
		pattern: WEB_URL_PATTERN,
		description: 'The privacy notice, linked in the menu of the widget.',
		examples: ['https://shop.example/privacy'],
	}),
	disclosure_text: NullableSingleLineText({
		maxLength: 120,
		description: 'Says that an AI answers. Default: "AI assistant" in the language of the visitor.',
		examples: ['Answers by AI'],
	}),
	font_family: OneOf(['system', 'inherit', 'serif', 'mono'], {
		description: 'Default system. `inherit`: the font of the page.',
	}),
	radius: OneOf(['none', 'small', 'medium', 'large'], { description: 'How round corners are. Default medium.' }),
};
const features = {
	streaming: Type.Boolean({ description: 'Default true.' }),
	rich_content: Type.Boolean({ description: 'Default true.' }),
	jwt_required: Type.Boolean({ description: 'Default false.' }),
	ai_disclosure: Type.Boolean({
		description: 'Default true: the widget says that an AI answers (EU AI Act, article 50).',
	}),
	handoff: Type.Boolean({ description: 'Default false. Visitors may ask for a person, by a button or in words.' }),
};
const rate_limit = {
	messages_per_minute: Type.Integer({ minimum: 1, maximum: 10_000, description: 'Per visitor. Default 20.' }),
};
const jwt = {
	algorithm: OneOf(['HS256', 'RS256', 'ES256'], { description: 'Tokens with another algorithm are rejected.' }),
	secret: NullableText({
		maxLength: 10_000,
		description: 'HS256: text whose UTF-8 bytes, at least 32, are the key. Write-only: reads back as "***".',
	}),
	public_key: NullableText({
		maxLength: 20_000,
		description: 'RS256 and ES256: PEM (SPKI) of an RSA key of at least 2048 bits, or of a P-256 key.',
	}),
	jwks_url: NullableText({
		maxLength: 2000,
		description: 'RS256 and ES256, instead of public_key: URL of the JSON Web Key Set (RFC 7517). https.',
	}),
	audience: NullableSingleLineText({ maxLength: 500, description: 'The claim aud must equal or contain this.' }),
	issuer: NullableSingleLineText({ maxLength: 500, description: 'The claim iss must be this.' }),
};
/** How visitors' tokens are verified, in a request. An absent member is null at creation and unchanged in a PATCH. */
const jwtCreate = ObjectOrNull(Strict({ ...Patch(jwt).properties, algorithm: jwt.algorithm }));
const jwtPatch = ObjectOrNull(Patch(jwt));

export const Appearance = Type.Object(appearance);
export type Appearance = Static<typeof Appearance>;
export const Features = Type.Object(features);
export type Features = Static<typeof Features>;
export const DeploymentRateLimit = Type.Object(rate_limit);
export type DeploymentRateLimit = Static<typeof DeploymentRateLimit>;

export const Deployment = Type.Object({
	id: Type.String(),
	name,
	assistant_id: Type.String(),
	allowed_domains,
	appearance: Appearance,
	features: Features,
	rate_limit: DeploymentRateLimit,
	time_zone,
	jwt: NullableObject(Type.Object(jwt), { description: 'How visitors’ tokens are verified.', examples: [null] }),
	status,
	budget: BudgetOrNull('What the replies in it may cost in a period.'),
	visitor_budget: BudgetOrNull('What the replies to each visitor may cost in a period.'),
	retention_days,
	created_at: Timestamp,
	updated_at: Timestamp,
});
export type Deployment = Static<typeof Deployment>;
export type DeploymentJwt = NonNullable<Deployment['jwt']>;

export const DeploymentCreate = Strict({
	name: Type.Optional(name),
	assistant_id: Id('The assistant that answers.'),
	allowed_domains: Type.Optional(allowed_domains),
	appearance: Type.Optional(Patch(appearance)),
	features: Type.Optional(Patch(features)),
	rate_limit: Type.Optional(Patch(rate_limit)),
	time_zone: Type.Optional(time_zone),
	jwt: Type.Optional(jwtCreate),
	budget: Type.Optional(BudgetCreate),
	visitor_budget: Type.Optional(BudgetCreate),
	retention_days: Type.Optional(retention_days),
});
export type DeploymentCreate = Static<typeof DeploymentCreate>;

export const DeploymentPatch = Patch({
	name,
	assistant_id: Id('The assistant that answers.'),
	allowed_domains,
	appearance: Patch(appearance),
	features: Patch(features),
	rate_limit: Patch(rate_limit),
	time_zone,
	jwt: jwtPatch,
	budget: BudgetPatch,
	visitor_budget: BudgetPatch,
	retention_days,
	status,
});
export type DeploymentPatch = Static<typeof DeploymentPatch>;
export type DeploymentJwtPatch = NonNullable<DeploymentPatch['jwt']>;

export const DeploymentListQuery = PageQueryWith({
	status: Type.Optional(OneOf(['active', 'archived'], { description: 'Only deployments in this state.' })),
	assistant_id: Type.Optional(Id('Only deployments of this assistant.')),
});

/** Why an entry of an allowlist does not let a page in, although it names the page's host or a related one. */
const NEAR_MISSES = ['scheme', 'port', 'apex', 'subdomain'] as const;

export const OriginCheckRequest = Strict({
	url: Type.String({
		maxLength: 2000,
		pattern: URL_PATTERN,
		description: 'The address of a page. Only its origin (scheme, host and port) matters.',
		examples: ['https://www.shop.example/kettles'],
	}),
	allowed_domains: Type.Optional(allowed_domains),
});
export type OriginCheckRequest = Static<typeof OriginCheckRequest>;

/** Whether an allowlist lets a page in. */
export const OriginCheck = Type.Object({
	allowed: Type.Boolean({ examples: [false] }),
	origin: NullableText({
		description: 'The origin of the address; null if it has none.',
		examples: ['https://www.shop.example'],
	}),
	entry: NullableText({ description: 'The first entry that lets the page in.' }),
	reason: NullableOneOf(['invalid_url', 'not_a_website', 'trailing_dot', 'empty_list', 'no_entry_matches'], {
		description: 'Why the page is not let in; null if it is.',
		examples: ['no_entry_matches'],
	}),
	near_misses: Type.Array(
		Type.Object({
			entry: Type.String({ examples: ['shop.example'] }),
			reason: OneOf(NEAR_MISSES, {
				examples: ['subdomain'],
				description:
					'`scheme` and `port`: the entry asks for another one. `apex`: `*.` lets in subdomains only. `subdomain`: the entry lets in its own host only.',
			}),
		}),
		{
			description:
				'Entries for the page’s host or a related host that do not let the page in, in the order of the list.',
		},
	),
});
export type OriginCheck = Static<typeof OriginCheck>;

export const TokenCheckRequest = Strict({
	token: Type.String({
		minLength: 1,
		maxLength: 20_000,
		description: 'A JSON Web Token (RFC 7519), without "Bearer".',
		examples: ['eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhZGEiLCJleHAiOjE4MDAwMDAwMDB9.c2lnbmF0dXJl'],
	}),
});

/** Whether a deployment accepts a visitor's token. */
export const TokenCheck = Type.Object({
	valid: Type.Boolean(),
	problem: NullableText({ description: 'Why the token is not valid, in a sentence; null if it is.' }),
	end_user: NullableObject(EndUser, { description: 'Whom a valid token identifies.' }),
	expires_at: NullableText({
		format: 'date-time',
		description: 'When a valid token expires, with a tolerance of 30 seconds.',
	}),
});
export type TokenCheck = Static<typeof TokenCheck>;

/** The configuration that the embed script reads. Public, cacheable by a CDN. */
export const WidgetConfig = Type.Object({
	deployment_id: Type.String(),
	assistant_id: Type.String(),
	appearance: Appearance,
	features: Features,
	rate_limit: DeploymentRateLimit,
});
export type WidgetConfig = Static<typeof WidgetConfig>;

/** Deployments. */
export const deploymentOperations = {
	listDeployments: {
		method: 'GET',
		path: '/api/v1/deployments',
		summary: 'List deployments',
		tag: 'Deployments',
		access: withKey('deployments:read'),
		query: DeploymentListQuery,
		result: PageOf(Deployment),
	},
	createDeployment: {
		versioned: true,
		method: 'POST',
		path: '/api/v1/deployments',
		summary: 'Create a deployment',
		tag: 'Deployments',
		access: withKey('deployments:write'),
		body: DeploymentCreate,
		examples: {
			'A widget on your website': {
				name: 'The shop',
				assistant_id: 'asst_06gzhmza00001mjww6bbdevcx5ss2c8f',
				allowed_domains: ['shop.example', '*.shop.example'],
				appearance: { primary_color: '#0f766e', greeting: 'Hello! What would you like to know?' },
			},
			'For your own client': { assistant_id: 'asst_06gzhmza00001mjww6bbdevcx5ss2c8f' },
			'For signed-in visitors': {
				assistant_id: 'asst_06gzhmza00001mjww6bbdevcx5ss2c8f',
				allowed_domains: ['shop.example'],
				features: { jwt_required: true },
				jwt: { algorithm: 'HS256', secret: 'at least thirty-two bytes that only your website knows' },
			},
		},
		status: 201,
		errors: ['url_not_allowed'],
		result: Deployment,
	},
	getDeployment: {
		versioned: true,
		method: 'GET',
		path: '/api/v1/deployments/{id}',
		summary: 'Get a deployment',
		tag: 'Deployments',
		access: withKey('deployments:read'),
		result: Deployment,
	},
	updateDeployment: {
		versioned: true,
		method: 'PATCH',
		path: '/api/v1/deployments/{id}',
		summary: 'Change a deployment, archive or revive it',
		tag: 'Deployments',
		access: withKey('deployments:write'),
		body: DeploymentPatch,
		examples: {
			'Allow another domain': { allowed_domains: ['shop.example', 'www.shop.example'] },
			'Lower the rate limit': { rate_limit: { messages_per_minute: 5 } },
			'Archive it': { status: 'archived' },
		},
		errors: ['url_not_allowed'],
		result: Deployment,
	},
	archiveDeployment: {
		versioned: true,
		method: 'DELETE',
		path: '/api/v1/deployments/{id}',
		summary: 'Archive a deployment',
		tag: 'Deployments',
		access: withKey('deployments:write'),
		result: Deployment,
	},
	checkDeploymentOrigin: {
		reads: true,
		method: 'POST',
		path: '/api/v1/deployments/{id}/check-origin',
		summary: 'Check whether the allowlist lets a page in',
		description:
			'With `allowed_domains` it checks that list, which need not be stored. The answer names the entry that lets the page in, or says why none does.',
		tag: 'Deployments',
		access: withKey('deployments:read'),
		body: OriginCheckRequest,
		examples: {
			'The stored list': { url: 'https://www.shop.example/kettles' },
			'A list before it is stored': { url: 'https://shop.example', allowed_domains: ['*.shop.example'] },
		},
		result: OriginCheck,
	},
	checkDeploymentToken: {
		reads: true,
		method: 'POST',
		path: '/api/v1/deployments/{id}/check-token',
		summary: "Check a visitor's token",
		description:
			'Verifies a token as the deployment does for visitors, by its stored settings. The token is neither stored nor logged.',
		tag: 'Deployments',
		access: withKey('deployments:read'),
		body: TokenCheckRequest,
		maxBodyBytes: 3 * SMALL_BODY,
		result: TokenCheck,
	},
} as const satisfies OperationTable;
