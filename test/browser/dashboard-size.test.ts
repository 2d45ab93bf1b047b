import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { noBrowser as skip, startBrowser } from '../support/browser.ts';
import { openDashboard, startOwnedApp } from './dashboard.ts';

const app = await startOwnedApp();
after(() => app[Symbol.asyncDispose]());

/** Bytes by gzip, as they are sent. */
const FIRST_PAINT = 130_000;
const ALL = 200_000;

const PAGE = `${app.url}/dashboard`;
/** A text of the language that an English reader does not load. */
const OTHER_LANGUAGE = 'Bei Parley anmelden';

/** The bytes of a file by gzip. */
async function sizeOf(url: string): Promise<number> {
	const { headers } = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
	assert.equal(headers.get('content-encoding'), 'gzip', url);
	return Number(headers.get('content-length'));
}

const sumOf = async (urls: Iterable<string>) =>
	(await Promise.all([...urls].map(sizeOf))).reduce((sum, size) => sum + size, 0);

/** The page and every script and style sheet that it may load, in one language. */
async function reachableFiles(): Promise<Set<string>> {
	const found = new Set([PAGE]);
	for (const url of found) {
		const text = await (await fetch(url)).text();
		if (text.includes(OTHER_LANGUAGE)) found.delete(url);
		else for (const [, name] of text.matchAll(/\/([\w-]+-[A-Z0-9]{8}\.(?:js|css))"/g)) found.add(`${PAGE}/${name}`);
	}
	return found;
}

test('the first page needs at most 130 kB', { skip }, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/assistants');
	await owner.page.getByRole('heading', { name: 'Assistants' }).waitFor();
	const loaded = (await owner.page.evaluate(
		"performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => /\\.(js|css)$/.test(name))",
	)) as string[];
	assert.ok(loaded.length > 3);
	const bytes = await sumOf(new Set([PAGE, ...loaded]));
	assert.ok(bytes <= FIRST_PAINT, `${bytes} bytes`);
});

test('all pages together need at most 200 kB', async () => {
	const files = await reachableFiles();
	assert.ok(files.size > 8);
	const bytes = await sumOf(files);
	assert.ok(bytes <= ALL, `${bytes} bytes`);
});

test('the first page asks for nothing twice, and for the conversations before the inbox is there', {
	skip,
}, async () => {
	await using browser = await startBrowser();
	await using owner = await openDashboard(app, browser, {}, '#/inbox');
	await owner.page.reload();
	await owner.page.locator('.empty').first().waitFor();
	const loaded = (await owner.page.evaluate(
		"performance.getEntriesByType('resource').map(({ name, initiatorType }) => [initiatorType, name])",
	)) as [string, string][];
	const names = loaded.map(([, name]) => name);
	assert.deepEqual(
		names.filter((name, at) => names.indexOf(name) !== at),
		[],
	);
	for (const unread of [true, false]) {
		const url = `${app.url}/api/v1/inbox?limit=100&unread=${unread}`;
		assert.deepEqual(loaded.find(([, name]) => name === url)?.[0], 'link', url);
	}
});
