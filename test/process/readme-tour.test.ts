import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../support/programs.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { until } from '../support/until.ts';

const root = new URL('../../', import.meta.url);
const readme = await readFile(new URL('README.md', root), 'utf8');
const missing = ['bash', 'curl', 'grep'].filter((program) => findProgram(program) === null);
const skip = missing.length > 0 && `skipped: the tour needs ${missing.join(', ')}`;

/** A line of the tour, and what it did. */
interface Step {
	line: string;
	exit: number;
	output: string;
}

test("the README's tour, copied line by line, leads to cited answers", { skip }, async () => {
	await using server = await startServer();
	// A busy machine may not search in time: then the reply says so and asks to try again.
	const steps = await until('no search takes too long', async () => {
		const walked = await walk(tour(), server);
		return !walked.some(({ output }) => output.includes('I cannot search the documents right now')) && walked;
	});
	for (const { line, exit, output } of steps) assert.equal(exit, 0, `${line}\n${output}`);
	const outputOf = (part: string) => {
		const step = steps.find(({ line }) => line.includes(part));
		assert.ok(step, `the tour has a line with ${part}`);
		return step.output;
	};

	for (const file of ['.pdf', '.docx', '.html', '.md', '.txt']) {
		assert.match(outputOf(`${file}`), /"status": ?"(queued|processing|indexed)"/);
	}
	const status = JSON.parse(outputOf('/status'));
	assert.deepEqual([status.status, status.documents_indexed], ['ready', 5]);

	assert.match(outputOf('How many days'), /\b45 days\b.*\[\d\]/s);

	const streamed = events(outputOf('error code E3'));
	assert.deepEqual(
		[...new Set(streamed.map(({ event }) => event))],
		['message.created', 'message.delta', 'message.completed'],
	);
	const reply = streamed.at(-1)?.data.message;
	assert.match(reply.content, /temperature sensor/);
	assert.equal(reply.citations[0]?.title, 'Brook HB-170 kettle: user manual');
	assert.equal(reply.citations[0]?.page, 2);
	const deltas = streamed.filter(({ event }) => event === 'message.delta').map(({ data }) => data.delta);
	assert.equal(deltas.join(''), reply.content);

	assert.match(JSON.parse(outputOf('/widget/config')).deployment_id, /^dep_/);
	const visitors = events(outputOf('/widget/messages')).at(-1)?.data.message;
	assert.match(visitors.content, /Saturday.*10:00 to 16:00/);
	assert.ok(!('usage' in visitors), 'visitors are not told what the reply cost');
	assert.doesNotMatch(visitors.content, /cookie|basket|newsletter/i);
});

/** The lines of the tour's shell blocks. */
function tour(): string[] {
	const section = /\n## A tour\n(.*?)\n## /s.exec(readme)?.[1] ?? '';
	return [...section.matchAll(/^```sh\n(.*?)^```/gms)].flatMap((block) => (block[1] as string).trim().split('\n'));
}

/** Passes the lines to a shell one by one, as a person who copies them would. */
async function walk(lines: string[], server: ServerProcess): Promise<Step[]> {
	const own = { 'export PARLEY=': server.url, 'export KEY=': server.key };
	const typed = lines.map((line) => {
		const given = Object.entries(own).find(([start]) => line.startsWith(start));
		return given ? given.join('') : line;
	});
	for (const [start, value] of Object.entries(own)) assert.ok(typed.includes(start + value), `the tour sets ${start}`);

	const mark = '=====end of step';
	const script = typed.map((line) => `${line}\necho "${mark} $?"\n`).join('');
	const shell = spawn('bash', ['-s'], { cwd: fileURLToPath(root), stdio: ['pipe', 'pipe', 'pipe'], timeout: 300_000 });
	let printed = '';
	shell.stdout.on('data', (bytes) => {
		printed += bytes;
	});
	shell.stderr.on('data', (bytes) => {
		printed += bytes;
	});
	shell.stdin.end(script);
	await once(shell, 'close');
	const ends = [...printed.matchAll(new RegExp(`(.*?)${mark} (\\d+)\n`, 'gs'))];
	// A line that is not a whole command would have swallowed the mark behind it.
	assert.equal(ends.length, lines.length, printed);
	return ends.map(([, output = '', exit], index) => ({ line: lines[index] as string, exit: Number(exit), output }));
}

/** The server-sent events in what curl printed. */
// biome-ignore lint/suspicious/noExplicitAny: events of every kind
function events(text: string): Array<{ event: string; data: any }> {
	return [...text.matchAll(/^event: ?(.+)\r?\ndata: ?(.+)$/gm)].map(([, event = '', data = '']) => ({
		event,
		data: JSON.parse(data),
	}));
}
