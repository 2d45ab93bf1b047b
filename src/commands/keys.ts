import { createApiKey, keyRecord } from '../access/index.ts';
import { AppError, systemClock, timestamp } from '../base/index.ts';
import { SCOPES, type Scope } from '../contract/index.ts';
import { decideAndCommit } from '../store/index.ts';
import { alignColumns, type Command, UsageError } from './command.ts';
import { findWorkspace, listAll, withStore } from './data-folder.ts';
import { nameOption } from './options.ts';

const UNIT_MS = { h: 3_600_000, d: 24 * 3_600_000 } as const;

const create: Command = {
	name: 'keys create',
	options: { name: 'NAME', workspace: 'ID', scope: 'SCOPE…', expires: 'WHEN' },
	summary: 'make an API key and print it; WHEN is a date, or 30d or 12h from now',
	async run(invocation) {
		const now = systemClock.now();
		const terms = {
			name: nameOption(invocation) ?? 'From the command line',
			scopes: scopesOf(invocation.options('scope')),
			expires_at: expiryOf(invocation.option('expires'), now),
			now,
		};
		const settings = invocation.settings();
		const key = createApiKey();
		const record = await withStore(settings, async (store) => {
			const workspace = await findWorkspace(store, invocation.option('workspace'), settings);
			const record = keyRecord(workspace.id, key, terms);
			const write = [{ op: 'insert', kind: 'api_keys', record } as const];
			return decideAndCommit(store, async () => ({ commit: { write }, result: record }));
		});
		invocation.print(key);
		invocation.printInfo(`This is ${record.id}. The key is shown only once.`);
	},
};

const list: Command = {
	name: 'keys list',
	options: { workspace: 'ID' },
	summary: 'list API keys',
	async run(invocation) {
		const settings = invocation.settings();
		const rows = [['ID', 'PREFIX', 'WORKSPACE', 'LAST USED', 'EXPIRES', 'SCOPES', 'NAME']];
		await withStore(settings, async (store) => {
			const id = invocation.option('workspace');
			const where = id === undefined ? {} : { workspace_id: (await findWorkspace(store, id, settings)).id };
			for await (const key of listAll(store, 'api_keys', where)) {
				const [used, expires] = [key.last_used_at, key.expires_at].map((at) => (at === null ? 'never' : timestamp(at)));
				rows.push([key.id, key.prefix, key.workspace_id, used ?? '', expires ?? '', key.scopes.join(','), key.name]);
			}
		});
		for (const line of alignColumns(rows)) invocation.print(line);
	},
};

const revoke: Command = {
	name: 'keys revoke',
	positionals: ['ID'],
	summary: 'revoke an API key; a running server refuses it at once',
	async run(invocation) {
		const [id = ''] = invocation.positionals;
		await withStore(invocation.settings(), (store) =>
			decideAndCommit(store, async () => {
				const key = await store.get('api_keys', id);
				if (!key) throw new AppError('not_found', `There is no API key ${id}. "parley keys list" lists all keys.`);
				return { commit: { write: [{ op: 'remove', kind: 'api_keys', id }] }, result: undefined };
			}),
		);
		invocation.print(`${id} is revoked.`);
	},
};

const generate: Command = {
	name: 'keys generate',
	summary: 'print a new API key without storing it, for PARLEY_API_KEY before the first start',
	run(invocation) {
		invocation.print(createApiKey());
	},
};

/** Commands about API keys. */
export const keyCommands = [create, list, revoke, generate];

function scopesOf(named: string[]): ('*' | Scope)[] {
	if (named.length === 0) return ['*'];
	const known = named.flatMap((names) => names.split(',')).map((name) => SCOPES.find((scope) => scope === name.trim()));
	if (known.includes(undefined)) throw new UsageError(`A scope is one of ${SCOPES.join(', ')}.`);
	return [...new Set(known as ('*' | Scope)[])];
}

function expiryOf(text: string | undefined, now: number): number | null {
	if (text === undefined) return null;
	const [, amount, unit] = /^(\d{1,5})([dh])$/.exec(text) ?? [];
	const at = amount ? now + Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS] : isoTime(text);
	if (at > now) return at;
	throw new UsageError(
		'--expires takes a date in the future such as 2030-01-31, or a time from now such as 30d or 12h.',
	);
}

function isoTime(text: string): number {
	return /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
}
