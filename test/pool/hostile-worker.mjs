// Stands in for workers/parse.ts and does what the document's text says, as a hostile document makes a parser do.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const kept = [];

export default async function parse({ path, title, recognition }) {
	const text = readFileSync(path, 'utf8');
	const [order, file] = text.split(' ');
	if (order === 'ABORT') process.kill(process.pid, 'SIGABRT');
	// Memory, only if its pictures are looked at.
	if (order === 'PICTURES' && recognition !== undefined) process.kill(process.pid, 'SIGABRT');
	// Heap, up to the limit of the thread.
	if (order === 'HEAP') for (;;) kept.push(Array.from({ length: 10_000 }, () => ({})));
	// Processor time without end.
	while (order === 'SPIN');
	// Memory beside the heap, which no limit of a thread bounds.
	if (order === 'BUFFERS') {
		for (;;) {
			kept.push(Buffer.alloc(8 * 1024 * 1024, 1));
			await pause(5);
		}
	}
	// Says that it is being parsed, and goes on when the file is gone.
	if (order === 'WAIT') {
		writeFileSync(file, String(process.pid));
		// Seldom: on a busy machine this lasts, and it must not use up its processor time.
		while (existsSync(file)) await pause(50);
	}
	const body_terms = text.toLowerCase();
	const chunk = { text, heading_path: [], page: null, title_terms: '', body_terms };
	return { ok: true, value: { title, format: 'txt', language: 'en', page_count: null, chunks: [chunk] } };
}
