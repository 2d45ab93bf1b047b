// A program: parses every bomb, in the order of their list, and writes a line of JSON for each before and after.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import parse from '../../workers/parse.ts';
import { ALL_BOMBS } from '../fixtures/documents/all-bombs.ts';
import { RANDOM_BOMBS, randomBombs } from '../fixtures/documents/bombs.ts';

const [corpus] = process.argv.slice(2);
const bombs = corpus === 'random' ? randomBombs(20_261_122, RANDOM_BOMBS) : ALL_BOMBS;
const folder = mkdtempSync(join(tmpdir(), 'parley-bombs-'));
process.on('exit', () => rmSync(folder, { recursive: true }));

for (const { name, file_name, make } of bombs) {
	const path = join(folder, file_name);
	writeFileSync(path, make());
	process.stdout.write(`${JSON.stringify({ begun: `${file_name}: ${name}` })}\n`);
	const begun = performance.now();
	const answer = await parse({ path, file_name, content_type: null, title: null, url: null });
	const end = answer.ok ? (answer.value.chunks.length > 0 ? 'text' : 'no_text') : answer.error.code;
	const ms = Math.round(performance.now() - begun);
	process.stdout.write(
		`${JSON.stringify({ name: `${file_name}: ${name}`, end, ms, rss: process.memoryUsage().rss })}\n`,
	);
}
