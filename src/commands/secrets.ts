import {
	adoptKey,
	adoptKeyOfCluster,
	checkSecretKey,
	existingKey,
	hasSealedSecrets,
	replacementKey,
} from '../access/index.ts';
import { AppError, SecretBox, systemClock } from '../base/index.ts';
import type { Settings } from '../config/index.ts';
import type { Readers, Store, Write } from '../store/index.ts';
import { alignColumns, type Command, type Invocation } from './command.ts';
import { withExclusiveStore, withStore } from './data-folder.ts';
import { replacementSentence } from './server-key-check.ts';
import { type UnreadableSecret, unreadableSecrets } from './unreadable-secrets.ts';

/** What a reset would do. */
interface ResetPlan {
	secrets: UnreadableSecret[];
	/** Whether the configured key is already the database's key. */
	keyMatches: boolean;
	/** Whether the key is lost and nothing is encrypted with it, so that the next start replaces it. */
	isReplacedByStart: boolean;
}

const reset: Command = {
	name: 'secrets reset',
	flags: ['yes'],
	summary:
		'list the stored secrets that the key cannot decrypt, and exit with 1 when there are any; with --yes, remove them and use a new key (stop the server first)',
	async run(invocation) {
		const settings = invocation.settings();
		if (invocation.flag('yes')) return await removeSecretsAndUseNewKey(invocation, settings);
		const plan = await withStore(settings, (store) => resetPlan(store, settings), { acceptsAnyKey: true });
		const { secrets, isReplacedByStart } = plan;
		if (isNothingToReset(invocation, plan)) return;
		if (isReplacedByStart) {
			invocation.printInfo(`${await replacementSentence(settings)} There is nothing to reset.`);
			return;
		}
		invocation.printInfo(secrets.length > 0 ? 'This would be removed:' : 'Nothing is encrypted with the former key.');
		printSecrets(invocation, secrets);
		await printWhereFileFits(invocation, settings);
		throw new AppError(
			'unavailable',
			'Nothing was changed. Stop the server, then run "parley secrets reset --yes" to remove this and use another key.',
		);
	},
};

/** Commands about secrets that are encrypted with the server's secret key. */
export const secretCommands = [reset];

async function removeSecretsAndUseNewKey(invocation: Invocation, settings: Settings): Promise<void> {
	const reset = async (store: Store) => {
		const plan = await resetPlan(store, settings);
		if (isNothingToReset(invocation, plan)) return;
		const now = systemClock.now();
		const writes = plan.secrets.map((secret) => secret.removalWrite(now));
		await useConfiguredKey(store, settings, now, writes);
		invocation.printInfo(plan.secrets.length > 0 ? 'This was removed:' : 'Nothing was encrypted with the former key.');
		printSecrets(invocation, plan.secrets);
		invocation.printInfo('The server has a new key. Back it up. Earlier cursors are no longer valid.');
	};
	await withExclusiveStore(settings, reset, { acceptsAnyKey: true });
}

async function useConfiguredKey(store: Store, settings: Settings, now: number, writes: Write[]): Promise<void> {
	const { database_url, data_dir, secret_key = '' } = settings;
	if (database_url !== undefined) return adoptKeyOfCluster(store, Buffer.from(secret_key, 'base64'), now, writes);
	// The key is on disk before the commit that needs it, so a repeat after a crash uses the same key.
	const key = await replacementKey(data_dir, settings.secret_key);
	return adoptKey(store, data_dir, key, now, writes);
}

async function resetPlan(
	store: Pick<Readers, 'get' | 'idempotency' | 'list'>,
	{ database_url, data_dir, secret_key }: Settings,
): Promise<ResetPlan> {
	const isShared = database_url !== undefined;
	const check = await checkSecretKey(store, data_dir, secret_key, isShared);
	const keyMatches = 'key' in check;
	// Servers that share a database never replace its key.
	const isReplacedByStart = !isShared && 'problem' in check && check.isLost && !(await hasSealedSecrets(store));
	const key = await existingKey(data_dir, secret_key);
	const box = key && new SecretBox(key);
	const secrets: UnreadableSecret[] = [];
	for await (const secret of unreadableSecrets(store, box, { isKeyOfDatabase: keyMatches, now: systemClock.now() })) {
		secrets.push(secret);
	}
	return { secrets, keyMatches, isReplacedByStart };
}

function isNothingToReset(invocation: Invocation, { secrets, keyMatches }: ResetPlan): boolean {
	const done = keyMatches && secrets.length === 0;
	if (done) invocation.printInfo('The secret key decrypts everything. There is nothing to reset.');
	return done;
}

function printSecrets(invocation: Invocation, secrets: readonly UnreadableSecret[]): void {
	if (secrets.length === 0) return;
	const rows = secrets.map(({ kind, id, name, remedy }) => [kind, id, name, remedy]);
	for (const line of alignColumns([['KIND', 'ID', 'NAME', 'TO DO'], ...rows])) invocation.print(line);
}

/** Reports a wrong PARLEY_SECRET_KEY beside the right file, with which nothing needs to be removed. */
async function printWhereFileFits(invocation: Invocation, settings: Settings): Promise<void> {
	if (settings.secret_key === undefined || settings.database_url !== undefined) return;
	const fileCheck = await withStore(settings, (store) => checkSecretKey(store, settings.data_dir, undefined));
	if ('key' in fileCheck)
		invocation.printInfo('secret.key decrypts all of it: unset PARLEY_SECRET_KEY to keep these secrets.');
}
