import { ROLES, type Role } from '../contract/index.ts';

/** Which values of a claim give which role. */
export interface RoleMapping {
	/** The name of the claim, or its path: `realm_access.roles`. */
	claim: string;
	roles: ReadonlyMap<string, Role>;
}

/** @param entries values of the claim with their roles: `parley-admins=admin` */
export function roleMapping(claim: string, entries: readonly string[]): RoleMapping {
	const pairs = entries.map((entry) => {
		// The value may have the character itself, as distinguished names do.
		const at = entry.lastIndexOf('=');
		return [entry.slice(0, at), entry.slice(at + 1) as Role] as const;
	});
	return { claim, roles: new Map(pairs) };
}

/** The most powerful role that the claims give; null for none. */
export function roleOf(claims: Readonly<Record<string, unknown>>, { claim, roles }: RoleMapping): Role | null {
	const given = valuesOf(claimAt(claims, claim)).map((value) => roles.get(value));
	return ROLES.find((role) => given.includes(role)) ?? null;
}

/** The value of a claim. A claim whose name has dots, such as a URL, comes before a path. */
export function claimAt(claims: Readonly<Record<string, unknown>>, name: string): unknown {
	if (Object.hasOwn(claims, name)) return claims[name];
	let value: unknown = claims;
	for (const part of name.split('.')) {
		if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
		value = (value as Record<string, unknown>)[part];
	}
	return value;
}

/** Claims are a text, or a list of texts. */
function valuesOf(claim: unknown): string[] {
	const values: unknown[] = Array.isArray(claim) ? claim : [claim];
	return values.filter((value) => typeof value === 'string');
}
