import type { Resource } from '../../api/client.ts';

export type User = Resource<'User'>;
export type Role = User['role'];

/** The roles, the most powerful first. */
export const ROLES: readonly Role[] = ['owner', 'admin', 'member', 'agent', 'viewer'];

/** A person's link for setting a password. */
export type PasswordLink = Pick<Resource<'InvitedUser'>, 'email' | 'password_link' | 'password_link_expires_at'>;
