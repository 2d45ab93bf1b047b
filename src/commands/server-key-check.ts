import { checkKeyPermissions, checkSecretKey, existingKey, hasSealedSecrets } from '../access/index.ts';
import { messageOf, SecretBox, systemClock } from '../base/index.ts';
import type { Settings } from '../config/index.ts';
import { openReaders, type Readers } from '../store/index.ts';
import { unreadableSecrets } from './unreadable-secrets.ts';

/** The result of a check of the secret key, as a sentence. */
interface KeyFinding {
	ok: boolean;
	message: string;
}

/**
 * Checks the server's secret key. Sentences about problems say what to do. The database must be sound and have the current schema.
 */
export async function checkServerKey(settings: Settings): Promise<KeyFinding[]> {
	const { data_dir, secret_key } = settings;
	try {
		using store = openReaders(data_dir);
		const check = await checkSecretKey(store, data_dir, secret_key);
		if ('problem' in check && check.isLost && !(await hasSealedSecrets(store))) {
			return [{ ok: true, message: await replacementSentence(settings) }];
		}
		const problems = 'problem' in check ? [check.problem] : await unreadableWith(store, check.key);
		const permissions = await checkKeyPermissions(data_dir);
		if (permissions !== null) problems.push(permissions);
		if (problems.length === 0) return [{ ok: true, message: 'It decrypts everything that is encrypted.' }];
		return problems.map((message) => ({ ok: false, message }));
	} catch (error) {
		const problem = messageOf(error).replace(/\.$/, '');
		const message = `The secret key cannot be checked: ${problem}. Correct what the other checks found, and run the doctor again.`;
		return [{ ok: false, message }];
	}
}

/** Checks the secret key of servers that share a database. */
export async function checkKeyOfCluster(
	store: Pick<Readers, 'get' | 'idempotency' | 'list'>,
	{ data_dir, secret_key }: Settings,
): Promise<KeyFinding[]> {
	const check = await checkSecretKey(store, data_dir, secret_key, true);
	const problems = 'problem' in check ? [check.problem] : await unreadableWith(store, check.key);
	if (problems.length === 0) return [{ ok: true, message: 'It decrypts everything that is encrypted.' }];
	return problems.map((message) => ({ ok: false, message }));
}

/** What a start does where the key is lost and nothing is encrypted with it. */
export async function replacementSentence({ data_dir, secret_key }: Settings): Promise<string> {
	const found = await existingKey(data_dir, secret_key);
	const key =
		found === null ? 'a new key' : secret_key === undefined ? 'the key in secret.key' : 'the key in PARLEY_SECRET_KEY';
	return `Nothing is encrypted with the former key: the next start uses ${key}.`;
}

async function unreadableWith(store: Pick<Readers, 'idempotency' | 'list'>, key: Buffer): Promise<string[]> {
	const ids: string[] = [];
	const options = { isKeyOfDatabase: true, now: systemClock.now() };
	for await (const { id } of unreadableSecrets(store, new SecretBox(key), options)) ids.push(id);
	const [first] = ids;
	if (first === undefined) return [];
	const others = ids.length > 1 ? ` and ${ids.length - 1} more` : '';
	return [
		`The key cannot decrypt the secrets of ${first}${others}. Bring the key back, or remove them: "parley secrets reset" lists them first.`,
	];
}
