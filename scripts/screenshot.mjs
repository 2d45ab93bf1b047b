// npm run screenshot: makes docs/widget.png, a picture of the widget on the demo page of a new server, with a question about the sample
// documents and its answer.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openAsBlob, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { ensureBrowser } from './programs.mjs';
import { main, root, run, say, UserError } from './project.mjs';

const FILE = 'docs/widget.png';
const SIZE = { width: 900, height: 600 };
const SAMPLES = ['brook-kettle-manual.pdf', 'shipping-and-returns.docx', 'warranty-and-repair.md'];
const QUESTION = 'How many days do I have to return an order?';
const APPEARANCE = {
	assistant_name: 'Kettle help',
	status_text: 'About our kettles',
	primary_color: '#0f766e',
	greeting: 'Hello! How can I help?',
};
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
const DEADLINE_MS = 60_000;

await main(async () => {
	await ensureInstalled();
	const executablePath = await ensureBrowser();
	if (executablePath === null) throw new UserError('There is no Chromium to make the screenshot with.');
	await ensureBuilt();
	const folder = mkdtempSync(join(tmpdir(), 'parley-screenshot-'));
	let server;
	try {
		server = await startServer(folder);
		await photograph(executablePath, `${server.url}/demo?deployment_id=${await deploy(server)}`);
	} finally {
		await server?.stop();
		rmSync(folder, { recursive: true, force: true });
	}
	say(`${FILE}: ${Math.round(statSync(join(root, FILE)).size / 1000)} kB`);
});

/** A server on a free port and an empty data folder. */
async function startServer(folder) {
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
		},
	};
}

/** The id of a deployment whose assistant has the sample documents. */
async function deploy({ call }) {
	const knowledgeBase = await call('POST', 'knowledge-bases', { name: 'Hollowbrook Kettles' });
	for (const name of SAMPLES) {
		const form = new FormData();
		form.set('file', await openAsBlob(join(root, 'data/samples', name)), name);
		await call('POST', `knowledge-bases/${knowledgeBase.id}/documents`, form);
	}
	await until(async () => (await call('GET', `knowledge-bases/${knowledgeBase.id}/status`)).status === 'ready');
	const assistant = await call('POST', 'assistants', { name: 'Kettle help' });
	await call('POST', `assistants/${assistant.id}/knowledge-bases`, { knowledge_base_id: knowledgeBase.id });
	return (await call('POST', 'deployments', { assistant_id: assistant.id, appearance: APPEARANCE })).id;
}

async function photograph(executablePath, url) {
	const { chromium } = await import('playwright-core');
	const browser = await chromium.launch({ executablePath, headless: true, args: BROWSER_OPTIONS });
	try {
		const page = await browser.newPage({ viewport: SIZE, locale: 'en-GB', reducedMotion: 'reduce' });
		await page.goto(url);
		const panel = page.locator('parley-widget .panel');
		const field = panel.locator('textarea');
		if (!(await field.isVisible().catch(() => false))) await field.waitFor({ timeout: DEADLINE_MS });
		await field.fill(QUESTION);
		await field.press('Enter');
		// A reply has its sources when it is complete.
		await panel.locator('.message.theirs .sources').last().waitFor({ timeout: DEADLINE_MS });
		await page.screenshot({ path: join(root, FILE), caret: 'hide', animations: 'disabled' });
	} finally {
		await browser.close();
	}
}

async function until(look) {
	const deadline = performance.now() + DEADLINE_MS;
	for (;;) {
		const seen = await look();
		if (seen) return seen;
		if (performance.now() > deadline) throw new UserError('The server did not get ready.');
		await pause(50);
	}
}
