import { type Invitation, Passwords, passwordLink, resetTotp, Users } from '../access/index.ts';
import { AppError, addressOnThisMachine, systemClock } from '../base/index.ts';
import { type Settings, schemeOf } from '../config/index.ts';
import { EMAIL_PATTERN, ROLES, type Role } from '../contract/index.ts';
import type { Store, UserRecord } from '../store/index.ts';
import { alignColumns, type Command, type Invocation, UsageError } from './command.ts';
import { findWorkspace, listAll, withStore } from './data-folder.ts';
import { nameOption } from './options.ts';

/** Access to the folder gives every permission. */
const ALL_SCOPES = { scopes: ['*'] as const };

const create: Command = {
	name: 'users create',
	positionals: ['EMAIL'],
	options: { name: 'NAME', role: ROLES.join('|'), workspace: 'ID' },
	summary: 'make a user and print the link for setting a password; the first of a workspace is an owner',
	async run(invocation) {
		const [email = ''] = invocation.positionals;
		if (!new RegExp(EMAIL_PATTERN, 'u').test(email)) throw new UsageError(`"${email}" is not an email address.`);
		const [name, role] = [nameOption(invocation), roleOf(invocation.option('role'))];
		const settings = invocation.settings();
		const invitation = await withStore(settings, async (store) => {
			const { id } = await findWorkspace(store, invocation.option('workspace'), settings);
			const user = { email, role: role ?? (await defaultRole(store, id)), ...(name === undefined ? {} : { name }) };
			return usersOf(store).create(id, user, ALL_SCOPES).commit();
		});
		invocation.printInfo(`${invitation.user.id} is ${invitation.user.role} of ${invitation.user.workspace_id}.`);
		printLink(invocation, settings, invitation);
	},
};

const list: Command = {
	name: 'users list',
	options: { workspace: 'ID' },
	summary: 'list users',
	async run(invocation) {
		const settings = invocation.settings();
		const rows = [['ID', 'EMAIL', 'ROLE', 'WORKSPACE', 'PASSWORD', 'NAME']];
		await withStore(settings, async (store) => {
			const id = invocation.option('workspace');
			const where = id === undefined ? {} : { workspace_id: (await findWorkspace(store, id, settings)).id };
			for await (const { id, email, role, workspace_id, password_hash, name } of listAll(store, 'users', where)) {
				rows.push([id, email, role, workspace_id, password_hash === null ? 'not set' : 'set', name]);
			}
		});
		for (const line of alignColumns(rows)) invocation.print(line);
	},
};

const resetPassword: Command = {
	name: 'users reset-password',
	positionals: ['EMAIL'],
	options: { workspace: 'ID' },
	summary: 'print a new link for setting a password; the old password stays valid until then',
	async run(invocation) {
		const [email = ''] = invocation.positionals;
		const settings = invocation.settings();
		const invitation = await withStore(settings, async (store) => {
			const users = usersOf(store);
			const user = requireSingleUser(email, await users.findByEmail(email, invocation.option('workspace')));
			return users.invite(user.workspace_id, user.id, ALL_SCOPES).commit();
		});
		printLink(invocation, settings, invitation);
	},
};

const resetSecondFactor: Command = {
	name: 'users reset-totp',
	positionals: ['EMAIL'],
	options: { workspace: 'ID' },
	summary: 'remove the second factor of a user who has lost it, and sign the user out everywhere',
	async run(invocation) {
		const [email = ''] = invocation.positionals;
		const settings = invocation.settings();
		const changed = await withStore(settings, async (store) => {
			const users = usersOf(store);
			const { workspace_id, id } = requireSingleUser(
				email,
				await users.findByEmail(email, invocation.option('workspace')),
			);
			return resetTotp({ store, users, clock: systemClock }, workspace_id, id, ALL_SCOPES).commit();
		});
		invocation.printInfo(`${changed.email} signs in with the password alone.`);
	},
};

/** Commands about users. */
export const userCommands = [create, list, resetPassword, resetSecondFactor];

function usersOf(store: Store): Users {
	return new Users({ store, passwords: new Passwords(), clock: systemClock });
}

function roleOf(text: string | undefined): Role | undefined {
	const role = ROLES.find((known) => known === text);
	if (text !== undefined && role === undefined) throw new UsageError(`A role is one of ${ROLES.join(', ')}.`);
	return role;
}

/** The first user of a workspace is an owner, because each workspace needs one. */
async function defaultRole(store: Store, workspaceId: string): Promise<Role> {
	const where = { workspace_id: workspaceId, role: 'owner' } as const;
	const [owner] = await store.list('users', { where, order: 'asc', limit: 1 });
	return owner ? 'member' : 'owner';
}

function requireSingleUser(email: string, found: UserRecord[]): UserRecord {
	const [user, ...others] = found;
	if (!user) throw new AppError('not_found', `There is no user ${email}. "parley users list" lists all users.`);
	if (others.length === 0) return user;
	const workspaces = found.map(({ workspace_id }) => workspace_id).join(', ');
	throw new UsageError(`${email} is a user of several workspaces. Name one with --workspace: ${workspaces}.`);
}

function printLink(invocation: Invocation, settings: Settings, { token }: Invitation): void {
	const { public_url, host, port } = settings;
	// With port 0 only the server knows where it listens.
	const base = public_url ?? (port === 0 ? '' : addressOnThisMachine(host, port, schemeOf(settings)));
	invocation.print(passwordLink(base, token));
	const where = base === '' ? "It follows the server's address. " : '';
	invocation.printInfo(
		`The user sets the password there. ${where}The link works once, for a day, and is shown only now.`,
	);
}
