import { type Invited, Passwords, passwordLink, Users } from '../access/index.ts';
import { AppError, addressOnThisMachine, systemClock } from '../base/index.ts';
import type { Settings } from '../config/index.ts';
import { EMAIL_PATTERN, type User } from '../contract/index.ts';
import type { Store, UserRecord } from '../store/index.ts';
import { type Command, columns, type Invocation, UsageError } from './command.ts';
import { everyOf, withStore, workspaceNamed } from './data-folder.ts';
import { nameOption } from './options.ts';

/** Who has the folder may do everything. */
const EVERYTHING = { scopes: ['*'] as const };

const create: Command = {
	name: 'users create',
	words: ['EMAIL'],
	options: { name: 'NAME', role: 'owner|member', workspace: 'ID' },
	summary: 'make a user and print the link for setting a password; the first of a workspace is an owner',
	async run(given) {
		const [email = ''] = given.words;
		if (!new RegExp(EMAIL_PATTERN, 'u').test(email)) throw new UsageError(`"${email}" is not an email address.`);
		const [name, role] = [nameOption(given), roleOf(given.option('role'))];
		const settings = given.settings();
		const invited = await withStore(settings, async (store) => {
			const { id } = await workspaceNamed(store, given.option('workspace'), settings);
			const user = { email, role: role ?? (await roleOfNext(store, id)), ...(name === undefined ? {} : { name }) };
			return usersOf(store).create(id, user, EVERYTHING);
		});
		given.note(`${invited.user.id} is ${invited.user.role} of ${invited.user.workspace_id}.`);
		tellLink(given, settings, invited);
	},
};

const list: Command = {
	name: 'users list',
	options: { workspace: 'ID' },
	summary: 'list users',
	async run(given) {
		const settings = given.settings();
		const rows = [['ID', 'EMAIL', 'ROLE', 'WORKSPACE', 'PASSWORD', 'NAME']];
		await withStore(settings, async (store) => {
			const id = given.option('workspace');
			const where = id === undefined ? {} : { workspace_id: (await workspaceNamed(store, id, settings)).id };
			for await (const { id, email, role, workspace_id, password_hash, name } of everyOf(store, 'users', where)) {
				rows.push([id, email, role, workspace_id, password_hash === null ? 'not set' : 'set', name]);
			}
		});
		for (const line of columns(rows)) given.print(line);
	},
};

const resetPassword: Command = {
	name: 'users reset-password',
	words: ['EMAIL'],
	options: { workspace: 'ID' },
	summary: 'print a new link for setting a password; until it is used, the old password stays',
	async run(given) {
		const [email = ''] = given.words;
		const settings = given.settings();
		const invited = await withStore(settings, async (store) => {
			const users = usersOf(store);
			const user = theOne(email, await users.withEmail(email, given.option('workspace')));
			return users.invite(user.workspace_id, user.id, EVERYTHING);
		});
		tellLink(given, settings, invited);
	},
};

/** Commands about users. */
export const userCommands = [create, list, resetPassword];

function usersOf(store: Store): Users {
	return new Users({ store, passwords: new Passwords(), clock: systemClock });
}

function roleOf(text: string | undefined): User['role'] | undefined {
	if (text === undefined || text === 'owner' || text === 'member') return text;
	throw new UsageError('A role is owner or member.');
}

/** Somebody must be able to do everything. */
async function roleOfNext(store: Store, workspaceId: string): Promise<User['role']> {
	const where = { workspace_id: workspaceId, role: 'owner' } as const;
	const [owner] = await store.list('users', { where, order: 'asc', limit: 1 });
	return owner ? 'member' : 'owner';
}

function theOne(email: string, found: UserRecord[]): UserRecord {
	const [user, ...others] = found;
	if (!user) throw new AppError('not_found', `There is no user ${email}. "parley users list" shows those there are.`);
	if (others.length === 0) return user;
	const workspaces = found.map(({ workspace_id }) => workspace_id).join(', ');
	throw new UsageError(`${email} is a user of several workspaces. Name one with --workspace: ${workspaces}.`);
}

function tellLink(given: Invocation, { public_url, host, port }: Settings, { token }: Invited): void {
	// With port 0 only the server knows where it listens.
	const base = public_url ?? (port === 0 ? '' : addressOnThisMachine(host, port));
	given.print(passwordLink(base, token));
	const where = base === '' ? "It goes behind the server's address. " : '';
	given.note(`The password is set there. ${where}The link is good once, for a day, and shown only now.`);
}
