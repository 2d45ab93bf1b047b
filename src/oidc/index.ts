export {
	type AuthorizationChecks,
	type AuthorizationRequest,
	type Identity,
	IdentityProvider,
	type IdentityProviderOptions,
} from './identity-provider.ts';
export { type RoleMapping, roleMapping, roleOf } from './role-mapping.ts';
