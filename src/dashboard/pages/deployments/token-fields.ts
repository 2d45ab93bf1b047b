import type { Resource } from '../../api/client.ts';
import type { DeploymentStrings } from '../../languages/strings.ts';
import type { Deployment } from './queries.ts';

/** The form of the settings for visitors' tokens. An empty text is null in the API. */
export interface TokenFields {
	jwt_required: boolean;
	/** Empty: tokens are not used. */
	algorithm: '' | NonNullable<Deployment['jwt']>['algorithm'];
	/** Empty: the stored secret stays. */
	secret: string;
	/** Where the key of RS256 and ES256 is. */
	keySource: 'public_key' | 'jwks_url';
	public_key: string;
	jwks_url: string;
	audience: string;
	issuer: string;
}

export const TOKEN_POINTERS = ['algorithm', 'secret', 'public_key', 'jwks_url', 'audience', 'issuer']
	.map((name) => `/jwt/${name}`)
	.concat('/jwt', '/features/jwt_required');

export function tokenFieldsOf({ jwt, features }: Deployment): TokenFields {
	return {
		jwt_required: features.jwt_required,
		algorithm: jwt?.algorithm ?? '',
		secret: '',
		keySource: jwt?.jwks_url == null ? 'public_key' : 'jwks_url',
		public_key: jwt?.public_key ?? '',
		jwks_url: jwt?.jwks_url ?? '',
		audience: jwt?.audience ?? '',
		issuer: jwt?.issuer ?? '',
	};
}

/** The body of the PATCH. Keys that the chosen algorithm does not use are removed. */
export function tokenPatchOf(fields: TokenFields): Resource<'DeploymentPatch'> {
	const { algorithm, jwt_required, keySource } = fields;
	if (algorithm === '') return { jwt: null, features: { jwt_required: false } };
	const textOrNull = (name: 'public_key' | 'jwks_url' | 'audience' | 'issuer') => fields[name].trim() || null;
	const claims = { algorithm, audience: textOrNull('audience'), issuer: textOrNull('issuer') };
	const features = { jwt_required };
	if (algorithm === 'HS256') {
		const secret = fields.secret === '' ? {} : { secret: fields.secret };
		return { jwt: { ...claims, ...secret, public_key: null, jwks_url: null }, features };
	}
	const public_key = keySource === 'public_key' ? textOrNull('public_key') : null;
	const jwks_url = keySource === 'jwks_url' ? textOrNull('jwks_url') : null;
	return { jwt: { ...claims, secret: null, public_key, jwks_url }, features };
}

export function tokenLabelOf(t: DeploymentStrings, field: keyof TokenFields): string {
	const labels: Record<keyof TokenFields, string> = {
		jwt_required: t.tokenRequired,
		algorithm: t.algorithm,
		secret: t.secret,
		keySource: t.keySource,
		public_key: t.publicKey,
		jwks_url: t.keySet,
		audience: t.audience,
		issuer: t.issuer,
	};
	return labels[field];
}

/** The value of a field, for a conflict. A secret is not shown. */
export function tokenTextOf(fields: TokenFields, field: keyof TokenFields): string {
	if (field === 'secret') return fields.secret === '' ? '' : '***';
	return String(fields[field]);
}
