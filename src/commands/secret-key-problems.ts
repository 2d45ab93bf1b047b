import { checkKeyPermissions, checkSecretKey } from '../access/index.ts';
import { messageOf, SecretBox, systemClock } from '../base/index.ts';
import type { Settings } from '../config/index.ts';
import { openReaders } from '../store/index.ts';
import { unreadableSecrets } from './unreadable-secrets.ts';

/**
 * Problems of the server's secret key, as sentences that say what to do. The database must be sound and have the current
 * schema.
 */
export async function secretKeyProblems({ data_dir, secret_key }: Settings): Promise<string[]> {
	try {
		using store = openReaders(data_dir);
		const check = await checkSecretKey(store, data_dir, secret_key);
		const problems = 'problem' in check ? [check.problem] : await unreadableWith(store, check.key);
		const permissions = await checkKeyPermissions(data_dir);
		return permissions === null ? problems : [...problems, permissions];
	} catch (error) {
		return [`The secret key cannot be checked: ${messageOf(error)}.`];
	}
}

async function unreadableWith(store: ReturnType<typeof openReaders>, key: Buffer): Promise<string[]> {
	const ids: string[] = [];
	const options = { isKeyOfDatabase: true, now: systemClock.now() };
	for await (const { id } of unreadableSecrets(store, new SecretBox(key), options)) ids.push(id);
	const [first] = ids;
	if (first === undefined) return [];
	const others = ids.length > 1 ? ` and ${ids.length - 1} more` : '';
	return [`The key cannot decrypt the secrets of ${first}${others}. "parley secrets reset" lists and removes them.`];
}
