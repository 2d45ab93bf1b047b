// A server with an empty data folder and the means to fill it, for pictures.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openAsBlob, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { root, run, UserError } from './project.mjs';

export const DEADLINE_MS = 60_000;
const SAMPLES = ['brook-kettle-manual.pdf', 'shipping-and-returns.docx', 'warranty-and-repair.md'];
const BROWSER_OPTIONS = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
	// A scrollbar and a caret are not part of the page.
	'--hide-scrollbars',
];

/** A server on a free port. @param env further settings */
export async function startServer(env = {}) {
	const folder = mkdtempSync(join(tmpdir(), 'parley-screenshot-'));
	const { output } = await run(process.execPath, ['.build/main.js', 'keys', 'generate'], { quiet: true });
	const key = output.trim();
	const child = spawn(process.execPath, [join(root, '.build/main.js'), 'serve'], {
		cwd: folder,
		env: {
			PATH: process.env.PATH,
			PARLEY_PORT: '0',
			PARLEY_DATA_DIR: folder,
			PARLEY_API_KEY: key,
			PARLEY_LOG_LEVEL: 'warn',
			...env,
		},
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	let printed = '';
	child.stdout.on('data', (bytes) => {
		printed += bytes;
	});
	const ended = once(child, 'close');
	const url = await until(() => {
		if (child.exitCode !== null) throw new UserError(`The server did not start.\n${printed}`);
		return /Parley listens on (\S+)/.exec(printed)?.[1];
	});
	const call = async (method, path, body) => {
		const isForm = body instanceof FormData;
		const response = await fetch(`${url}/api/v1/${path}`, {
			method,
			headers: { authorization: `Bearer ${key}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
			...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
		});
		const answer = await response.json();
		if (!response.ok) throw new Error(`${method} ${path}: ${answer.error.message}`);
		return answer;
	};
	return {
		url,
		call,
		async stop() {
			child.kill('SIGTERM');
			await ended;
			rmSync(folder, { recursive: true, force: true });
		},
	};
}

/** The id of a knowledge base with the sample documents, indexed. */
export async function addSamples({ call }) {
	const { id } = await call('POST', 'knowledge-bases', { name: 'Hollowbrook Kettles' });
	for (const name of SAMPLES) {
		const form = new FormData();
		form.set('file', await openAsBlob(join(root, 'data/samples', name)), name);
		await call('POST', `knowledge-bases/${id}/documents`, form);
	}
	await until(async () => (await call('GET', `knowledge-bases/${id}/status`)).status === 'ready');
	return id;
}

export async function openBrowser(executablePath) {
	const { chromium } = await import('playwright-core');
	return chromium.launch({ executablePath, headless: true, args: BROWSER_OPTIONS });
}

export async function until(look) {
	const deadline = performance.now() + DEADLINE_MS;
	for (;;) {
		const seen = await look();
		if (seen) return seen;
		if (performance.now() > deadline) throw new UserError('The server did not get ready.');
		await pause(50);
	}
}
