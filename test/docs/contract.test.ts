import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Appearance } from '../../src/contract/deployments.ts';
import { bodyValidator, EVENT_TYPES, operations } from '../../src/contract/index.ts';
import { streamEventSchemas } from '../../src/contract/stream-events.ts';
import { type Page, root, tableOf, uncoded } from './markdown.ts';

const page = (path: string): Page => ({ path, text: readFileSync(join(root, path), 'utf8') });
/** The names in the first cells of a table's rows. */
const namesIn = (path: string, heading: string) =>
	tableOf(page(path), heading).flatMap(([cell = '']) => cell.split(', ').map(uncoded));

test('docs/webhooks.md lists every type of event', () => {
	assert.deepEqual(namesIn('docs/webhooks.md', 'type'), [...EVENT_TYPES]);
});

test('docs/api.md lists every event of a stream', () => {
	assert.deepEqual(namesIn('docs/api.md', 'event').sort(), Object.keys(streamEventSchemas).sort());
});

test('docs/widget.md lists every setting of the appearance', () => {
	assert.deepEqual(namesIn('docs/widget.md', '`appearance`').sort(), Object.keys(Appearance.properties).sort());
});

test('docs/widget.md lists every attribute of the script tag', () => {
	const options = readFileSync(join(root, 'src/widget/page/options.ts'), 'utf8');
	const names = /const \{ ([\w, ]+) \} = script\.dataset/.exec(options)?.[1]?.split(', ') ?? [];
	const attributes = names.map((name) => `data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
	assert.deepEqual(namesIn('docs/widget.md', 'attribute').sort(), attributes.sort());
});

test('shows tools in docs/tools.md that the API accepts', () => {
	const check = bodyValidator(operations.createTool.body);
	const examples = [...page('docs/tools.md').text.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) =>
		JSON.parse(json),
	);
	assert.equal(examples.length, 2);
	for (const example of examples) check(example);
});
