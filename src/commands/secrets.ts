import { adoptKey, checkSecretKey, nextKey, presentKey } from '../access/index.ts';
import { AppError, SecretBox, systemClock } from '../base/index.ts';
import type { Settings } from '../config/index.ts';
import type { Readers } from '../store/index.ts';
import { type Command, columns, type Invocation } from './command.ts';
import { withOwnStore, withStore } from './data-folder.ts';
import { type ClosedThing, closedThings } from './sealed-things.ts';

/** What a reset would do now. */
interface Plan {
	things: ClosedThing[];
	/** Whether the key that is there is already the one of the database. */
	fits: boolean;
}

const reset: Command = {
	name: 'secrets reset',
	flags: ['yes'],
	summary:
		'list the stored secrets that no key opens any more, and end with 1 where there are any; with --yes, forget them and use another key: the server must not run',
	async run(given) {
		const settings = given.settings();
		if (given.flag('yes')) return await forget(given, settings);
		const { things, fits } = await withStore(settings, (store) => planOf(store, settings));
		if (isDone(given, { things, fits })) return;
		given.note(things.length > 0 ? 'This would be forgotten:' : 'Nothing is sealed with the key before.');
		tell(given, things);
		await noteFittingFile(given, settings);
		throw new AppError(
			'unavailable',
			'Nothing was changed. Stop the server, then run "parley secrets reset --yes" to forget this and use another key.',
		);
	},
};

/** Commands about what is sealed with the server's secret key. */
export const secretCommands = [reset];

async function forget(given: Invocation, settings: Settings): Promise<void> {
	const { data_dir, secret_key } = settings;
	await withOwnStore(settings, async (store) => {
		const plan = await planOf(store, settings);
		if (isDone(given, plan)) return;
		// The key is on disk before the commit that needs it: a repeat after a crash takes the same key.
		const key = await nextKey(data_dir, secret_key);
		const now = systemClock.now();
		const writes = plan.things.map((thing) => thing.forget(now));
		await adoptKey(store, data_dir, key, now, writes);
		given.note(plan.things.length > 0 ? 'This was forgotten:' : 'Nothing was sealed with the key before.');
		tell(given, plan.things);
		given.note('The key of the server is another one now. Back it up; cursors from before are not valid any more.');
	});
}

async function planOf(
	store: Pick<Readers, 'get' | 'list' | 'hasSealedResponses'>,
	{ data_dir, secret_key }: Settings,
): Promise<Plan> {
	const fits = 'key' in (await checkSecretKey(store, data_dir, secret_key));
	const key = await presentKey(data_dir, secret_key);
	const box = key && new SecretBox(key);
	const things: ClosedThing[] = [];
	for await (const thing of closedThings(store, box, { isKeyOfDatabase: fits, now: systemClock.now() })) {
		things.push(thing);
	}
	return { things, fits };
}

function isDone(given: Invocation, { things, fits }: Plan): boolean {
	const done = fits && things.length === 0;
	if (done) given.note('The secret key opens everything that is sealed. There is nothing to reset.');
	return done;
}

function tell(given: Invocation, things: readonly ClosedThing[]): void {
	if (things.length === 0) return;
	const rows = things.map(({ kind, id, name, remedy }) => [kind, id, name, remedy]);
	for (const line of columns([['KIND', 'ID', 'NAME', 'TO DO'], ...rows])) given.print(line);
}

/** A wrong PARLEY_SECRET_KEY beside the right file: nothing needs to be forgotten. */
async function noteFittingFile(given: Invocation, settings: Settings): Promise<void> {
	if (settings.secret_key === undefined) return;
	const ofFile = await withStore(settings, (store) => checkSecretKey(store, settings.data_dir, undefined));
	if ('key' in ofFile) given.note('secret.key opens all of it: unset PARLEY_SECRET_KEY to keep these secrets.');
}
