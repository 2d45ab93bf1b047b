import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

const BUILT = fileURLToPath(new URL('../../.build/widget/', import.meta.url));
const SOURCE = fileURLToPath(new URL('../../src/widget/', import.meta.url));
const MARKDOWN = fileURLToPath(new URL('../../src/markdown/', import.meta.url));
/** Bytes of the button, the chat and the largest language together, as they are served. */
const LARGEST = { br: 24_000, gz: 26_000 };
/** What pages, storage and files of another version read: its names must stay. */
const SHARED = [
	'public.d.ts',
	'chat/chat-module.ts',
	'chat/person-module.ts',
	'chat/save-transcript.ts',
	'languages/strings.ts',
	'transport/conversation-storage.ts',
];

/** The paths of the source files below a folder. */
function sourcesIn(folder: string): string[] {
	const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
	return names.filter((name) => /\.tsx?$/.test(name)).map((name) => folder + name);
}

/** The files that the script of this build names; those of the build before may lie beside them. */
function current(): string[] {
	const script = readFileSync(`${BUILT}widget.js`, 'utf8');
	return readdirSync(BUILT).filter((name) => script.includes(/-([0-9a-f]{10})\.js$/.exec(name)?.[1] ?? ' none '));
}

test('the button, the chat and any language are together at most 24 kB by Brotli and 26 kB by gzip', () => {
	const chat = current().filter((name) => name.startsWith('chat-'));
	const languages = current().filter((name) => !/^(chat|person|transcript)-/.test(name));
	assert.equal(chat.length, 1);
	assert.equal(languages.length, 8);
	for (const [coding, largest] of Object.entries(LARGEST)) {
		const size = (name: string) => readFileSync(`${BUILT}${name}.${coding}`).length;
		const total = size('widget.js') + size(chat[0] as string) + Math.max(...languages.map(size));
		assert.ok(total <= largest, `${total} bytes by ${coding}`);
		assert.ok(size('widget.js') <= 6_000, `${size('widget.js')} bytes by ${coding} before the chat is opened`);
	}
});

test('what few visitors need is in files of its own: the bar for people is at most 4 kB by Brotli, the transcript 1 kB', () => {
	const largest = { person: { br: 4_000, gz: 4_500 }, transcript: { br: 1_000, gz: 1_000 } };
	for (const [part, bounds] of Object.entries(largest)) {
		const names = current().filter((name) => name.startsWith(`${part}-`));
		assert.equal(names.length, 1, part);
		for (const [coding, bound] of Object.entries(bounds)) {
			const size = readFileSync(`${BUILT}${names[0]}.${coding}`).length;
			assert.ok(size <= bound, `${part}: ${size} bytes by ${coding}`);
		}
	}
});

test('the compressed files have the content of the plain files', () => {
	for (const name of ['widget.js', 'widget.mjs', 'widget.d.mts', ...current()]) {
		const plain = readFileSync(BUILT + name);
		assert.ok(gunzipSync(readFileSync(`${BUILT}${name}.gz`)).equals(plain), name);
		assert.ok(brotliDecompressSync(readFileSync(`${BUILT}${name}.br`)).equals(plain), name);
	}
});

test('the widget’s code never writes HTML, evaluates text as code, or sets a style attribute', () => {
	for (const name of ['widget.js', 'widget.mjs', ...current()]) {
		const code = readFileSync(`${BUILT}${name}`, 'utf8');
		assert.doesNotMatch(
			code,
			/innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|document\.write|srcdoc|\beval\(|new Function|setAttribute\("style"|DOMParser/,
			name,
		);
	}
});

test('the build shortens every property whose name ends with an underscore, and no other file or language reads one', () => {
	const sources = [...sourcesIn(SOURCE), ...sourcesIn(MARKDOWN)];
	const shortenedIn = (name: string) =>
		readFileSync(name, 'utf8')
			.replace(/^\s*(\/?\*|\/\/).*$/gm, '')
			.match(/\b[A-Za-z]\w*_\b['"`]?/g) ?? [];
	const shortened = [...new Set(sources.flatMap(shortenedIn))];
	assert.ok(shortened.includes('isLoaded_'));
	// A quoted name keeps its underscore, so that it is another property after the build.
	assert.deepEqual(
		shortened.filter((name) => !name.endsWith('_')),
		[],
	);
	for (const name of SHARED) assert.deepEqual(shortenedIn(SOURCE + name), [], name);
	for (const built of ['widget.js', 'widget.mjs', ...current()]) {
		const code = readFileSync(BUILT + built, 'utf8');
		for (const name of shortened) assert.doesNotMatch(code, new RegExp(`\\b${name}\\b`), `${name} in ${built}`);
	}
});
