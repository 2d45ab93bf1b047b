import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { findProgram } from './programs.ts';

const found = ['chromium', 'chromium-browser', 'google-chrome'].map(findProgram).find((path) => path !== null);

/** The browser of this machine. */
export const executablePath = process.env.PARLEY_CHROMIUM ?? found;
/** What `test` takes as `skip`: a sentence where there is no browser. */
export const noBrowser = !executablePath && 'No Chromium was found: install one, or name it in PARLEY_CHROMIUM.';

/** The hosts that there are, besides 127.0.0.1: all of them this machine, and nothing else can be found. */
export const SHOP = 'shop.parley.test';
export const OTHER_SITE = 'stranger.parley.test';
export const PARLEY = 'chat.parley.test';

const ARGS = [
	`--host-resolver-rules=MAP *.parley.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost`,
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
	'--disable-dev-shm-usage',
];
const DEADLINE_MS = 120_000;
/** A page that is open for this long prints what it shows, before the test that waits for it fails (ms). */
const STUCK_MS = 110_000;

/** A browser. */
export interface TestBrowser extends AsyncDisposable {
	/** A visitor with a separate profile: storage, clock and network are not shared. */
	visitor(options?: BrowserContextOptions): Promise<Visitor>;
	/**
	 * A visitor without stored data, in a window that is reused, which is much faster. For tests that do not change the profile's clock,
	 * network, routes or scripts.
	 */
	sharedVisitor(): Promise<SharedVisitor>;
}

/** What went wrong on the pages of a visit. */
interface PageProblems {
	/** Errors of scripts, refusals of a policy, and what was said as an error. */
	problems: string[];
	/** Requests to other hosts than those named here. */
	foreignRequests: string[];
	/** Requests without a response, each with its reason. */
	failedRequests: string[];
}

/** A visit in a window that others use before and after. */
export interface SharedVisitor extends PageProblems, AsyncDisposable {
	page: Page;
}

/** One visitor. */
export interface Visitor extends SharedVisitor {
	context: BrowserContext;
}

/** How long Chromium stays open without a user (ms): the next test file of this process takes it over. */
const KEEP_OPEN_MS = 2_000;

/** The Chromium of this process. Null before the first use and after the last. */
let shared: Promise<Browser> | null = null;
let users = 0;
let closing: NodeJS.Timeout | undefined;

function launchChromium(): Promise<Browser> {
	const launched = chromium.launch({ executablePath, headless: true, args: ARGS });
	// After a crash the next file starts another one.
	const forget = () => {
		if (shared === launched) shared = null;
	};
	launched.then((browser) => browser.once('disconnected', forget), forget);
	return launched;
}

async function acquireChromium(): Promise<Browser> {
	clearTimeout(closing);
	users++;
	shared ??= launchChromium();
	try {
		return await shared;
	} catch (error) {
		shared = null;
		users--;
		throw error;
	}
}

function releaseChromium(): void {
	if (--users > 0) return;
	closing = setTimeout(async () => {
		const browser = shared;
		shared = null;
		await (await browser)?.close();
	}, KEEP_OPEN_MS);
}

/** Prints where a page is and what it shows: a test that waits in vain says only what it waits for. */
async function printPage(page: Page, { problems, failedRequests }: PageProblems): Promise<void> {
	const text = await page
		.locator('body')
		.ariaSnapshot({ timeout: 5_000 })
		.catch((error: Error) => error.message);
	const lines = [`The page ${page.url()} is open for ${STUCK_MS / 1_000} s. It shows:`, text.slice(0, 4_000)];
	console.log([...lines, 'Problems:', ...problems, 'Failed requests:', ...failedRequests.slice(-20)].join('\n'));
}

/** Opens the browser, whose visitors and windows are closed with it. All test files of a process use one Chromium. */
export async function startBrowser(): Promise<TestBrowser> {
	const browser = await acquireChromium();
	const contexts = new Set<BrowserContext>();
	const freeWindows: Array<{ page: Page; seen: PageProblems }> = [];
	const openWindow = async (options: BrowserContextOptions) => {
		const context = await browser.newContext({ locale: 'en-GB', ...options });
		contexts.add(context);
		context.on('close', () => contexts.delete(context));
		context.setDefaultTimeout(DEADLINE_MS);
		const seen: PageProblems = { problems: [], foreignRequests: [], failedRequests: [] };
		context.on('requestfailed', (request) =>
			seen.failedRequests.push(`${request.url()}: ${request.failure()?.errorText}`),
		);
		context.on('request', (request) => {
			const { protocol, hostname } = new URL(request.url());
			if (protocol === 'data:' || protocol === 'blob:') return;
			if (hostname !== '127.0.0.1' && !hostname.endsWith('.parley.test')) seen.foreignRequests.push(request.url());
		});
		context.on('weberror', (error) => seen.problems.push(error.error().message));
		context.on('console', (message) => {
			// The browser's own word on answers that are no success, which tests bring about.
			if (message.type() === 'error' && !/^Failed to load resource/.test(message.text()))
				seen.problems.push(message.text());
		});
		await context.addInitScript(
			"addEventListener('securitypolicyviolation', (event) => console.error('refused by the policy: ' + event.violatedDirective + ' ' + event.blockedURI));",
		);
		const page = await context.newPage();
		const stuck = setTimeout(() => void printPage(page, seen), STUCK_MS).unref();
		context.on('close', () => clearTimeout(stuck));
		return { context, seen, page };
	};
	return {
		async visitor(options = {}) {
			const { context, page, seen } = await openWindow(options);
			return { context, page, ...seen, [Symbol.asyncDispose]: () => context.close() };
		},
		async sharedVisitor() {
			const { page, seen } = freeWindows.pop() ?? (await openWindow({}));
			seen.problems = [];
			seen.foreignRequests = [];
			seen.failedRequests = [];
			return {
				page,
				...seen,
				async [Symbol.asyncDispose]() {
					await page.evaluate('localStorage.clear(), sessionStorage.clear()').catch(() => {});
					await page.emulateMedia({ colorScheme: null, forcedColors: null });
					// Pages of before are nowhere to go back to, and nothing of this one goes on.
					await page.goto('about:blank');
					freeWindows.push({ page, seen });
				},
			};
		},
		async [Symbol.asyncDispose]() {
			await Promise.all([...contexts].map((context) => context.close()));
			releaseChromium();
		},
	};
}

/** A website that is not Parley's: what its paths answer with. */
export interface TestSite extends AsyncDisposable {
	port: number;
	/** The address of a path, by this host name. */
	url(path?: string, host?: string): string;
	/** Answers a path with a page from now on. */
	serve(path: string, html: string, headers?: Record<string, string>): void;
}

export async function startSite(): Promise<TestSite> {
	const pages = new Map<string, { html: string; headers: Record<string, string> }>();
	const server = createServer((request, response) => {
		const page = pages.get(new URL(request.url ?? '/', 'http://site').pathname);
		if (!page) return void response.writeHead(404).end();
		response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...page.headers }).end(page.html);
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	return {
		port,
		url: (path = '/', host = SHOP) => `http://${host}:${port}${path}`,
		serve(path, html, headers = {}) {
			pages.set(path, { html, headers });
		},
		async [Symbol.asyncDispose]() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

/** A page with something to read, and a widget on it. */
export function shopPage(script: string): string {
	return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>A shop</title></head>
<body><main><h1>Kettles</h1><p>They boil water. <a href="#more">More</a></p><input aria-label="Search"></main>
${script}
</body>
</html>`;
}

/** The tag that puts a widget on a page. */
export function embed(server: string, deployment: string, attributes = ''): string {
	return `<script src="${server}/widget.js" data-deployment-id="${deployment}" ${attributes} async></script>`;
}
