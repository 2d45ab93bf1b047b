import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const BUILT = fileURLToPath(new URL('../../.build/widget/', import.meta.url));
/** 20 kB, for whoever has the largest of the languages. */
const LARGEST = 20_000;

/** The files that the script of this build names; those of the build before may lie beside them. */
function current(): string[] {
	const script = readFileSync(`${BUILT}widget.js`, 'utf8');
	return readdirSync(BUILT).filter((name) => /-[0-9a-f]{10}\.js$/.test(name) && script.includes(name));
}

test('the widget is at most 20 kB, gzipped, with the button, the chat and any language', () => {
	const size = (name: string) => readFileSync(`${BUILT}${name}.gz`).length;
	const chat = current().filter((name) => name.startsWith('chat-'));
	const languages = current().filter((name) => !name.startsWith('chat-'));
	assert.equal(chat.length, 1);
	assert.equal(languages.length, 7);
	const total = size('widget.js') + size(chat[0] as string) + Math.max(...languages.map(size));
	assert.ok(total <= LARGEST, `${total} bytes`);
	assert.ok(size('widget.js') <= 5_000, `${size('widget.js')} bytes before anybody opens the chat`);
});

test('nothing of it can write HTML, make code of text, or set a style attribute', () => {
	for (const name of ['widget.js', 'widget.mjs', ...current()]) {
		const code = readFileSync(`${BUILT}${name}`, 'utf8');
		assert.doesNotMatch(
			code,
			/innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|document\.write|srcdoc|\beval\(|new Function|setAttribute\("style"|DOMParser/,
			name,
		);
	}
});
