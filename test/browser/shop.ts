import type { Page } from 'playwright-core';
import { startTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import {
	embed,
	SHOP,
	type SharedVisitor,
	shopPage,
	startBrowser,
	startSite,
	type TestBrowser,
	type TestSite,
	type Visitor,
} from '../support/browser.ts';
import { ModelServer } from '../support/model-server.ts';
import { until } from '../support/until.ts';

/** Documents of the shop's assistant. */
const DOCUMENTS: Array<[title: string, content: string]> = [
	[
		'Returns',
		'# Returns\n\nYou have 45 days to return an order. We refund the **whole** price within five working days.',
	],
	[
		'Warranty',
		'# Warranty\n\nEvery kettle has a warranty of three years. The heating element is covered for ten years.',
	],
];

/** Calls the API, in this process or another. */
export type Call = TestApp['call'];

/** A website with the widget on its pages: a server, a stand-in model with scripted answers, the website and a browser. */
export interface Shop extends AsyncDisposable {
	app: TestApp;
	model: ModelServer;
	site: TestSite;
	browser: TestBrowser;
	/** A deployment whose assistant is the stand-in model, unless said otherwise. */
	deploy(settings?: object, assistant?: object): Promise<string>;
	/** A new visitor on a page of the shop with this deployment's widget. */
	visit(deployment: string, how?: VisitOptions): Promise<SharedVisitor & { chat: ChatOnPage }>;
	/** The same with a browser profile of their own, whose clock, network, routes and scripts may be changed. */
	stay(deployment: string, how?: StayOptions): Promise<Visitor & { chat: ChatOnPage }>;
}

export interface VisitOptions {
	attributes?: string;
	host?: string;
	/** Replaces the script tag of the page. */
	script?: string;
	headers?: Record<string, string>;
}

export interface StayOptions extends VisitOptions {
	context?: Parameters<TestBrowser['visitor']>[0];
	before?: (visitor: Visitor) => Promise<unknown>;
}

/** @param startApp starts the server; default: without a person who can sign in */
export async function openShop(options: TestAppOptions = {}, startApp = startTestApp): Promise<Shop> {
	const model = await ModelServer.start();
	const [app, site, browser] = await Promise.all([
		startApp({ ...options, settings: { providers: [model.provider()], ...options.settings } }),
		startSite(),
		startBrowser(),
	]);
	let pages = 0;
	const pageWith = (deployment: string, { script, attributes, headers, host }: VisitOptions) => {
		const path = `/${++pages}`;
		site.serve(path, shopPage(script ?? embed(app.url, deployment, attributes)), headers);
		return site.url(path, host);
	};
	return {
		app,
		model,
		site,
		browser,
		deploy: (settings, assistant) => deploy(app.call, settings, assistant),
		async visit(deployment, how = {}) {
			const visitor = await browser.sharedVisitor();
			await visitor.page.goto(pageWith(deployment, how));
			return Object.assign(visitor, { chat: chatOn(visitor.page) });
		},
		async stay(deployment, how = {}) {
			const visitor = await browser.visitor(how.context);
			await how.before?.(visitor);
			await visitor.page.goto(pageWith(deployment, how));
			return Object.assign(visitor, { chat: chatOn(visitor.page) });
		},
		async [Symbol.asyncDispose]() {
			await browser[Symbol.asyncDispose]();
			await site[Symbol.asyncDispose]();
			await app[Symbol.asyncDispose]();
			await model[Symbol.asyncDispose]();
		},
	};
}

/** Script for `addInitScript`: makes the browser refuse storage, as it does where the visitor has switched it off. */
export const STORAGE_REFUSED =
	'for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { get() { throw new DOMException("no", "SecurityError") } })';

/**
 * Requests that fail until `isDown` is false. `before` goes to `stay`.
 * @param pattern a glob for the address
 * @param error how they fail, for Playwright's `abort`
 */
export function createOutage(pattern: string, error = 'connectionreset') {
	const outage = {
		isDown: true,
		/** Requests so far, failed ones included. */
		attempts: 0,
		before: ({ context }: Visitor) =>
			context.route(pattern, (route) => {
				outage.attempts++;
				return outage.isDown ? route.abort(error) : route.continue();
			}),
	};
	return outage;
}

/** A deployment that the shop's pages may embed. */
export async function deploy(call: Call, settings: object = {}, assistant: object = {}): Promise<string> {
	const { body: made } = await call('POST', '/api/v1/assistants', {
		name: 'Kettle help',
		model: 'stand-in/small',
		...assistant,
	});
	const { status, body } = await call('POST', '/api/v1/deployments', {
		assistant_id: made.id,
		allowed_domains: [`${SHOP}:*`],
		...settings,
	});
	if (status !== 201) throw new Error(JSON.stringify(body));
	return body.id;
}

/** Gives the assistant of a deployment documents to answer from. */
export async function addDocuments(call: Call, deployment: string, documents = DOCUMENTS): Promise<void> {
	const { body: base } = await call('POST', '/api/v1/knowledge-bases', { name: 'Kettles' });
	for (const [title, content] of documents) {
		await call('POST', `/api/v1/knowledge-bases/${base.id}/documents`, { source_type: 'text', title, content });
	}
	await until('the documents are indexed', async () => {
		const { body } = await call('GET', `/api/v1/knowledge-bases/${base.id}/status`);
		return body.status === 'ready' && body.documents_indexed === documents.length;
	});
	const { body } = await call('GET', `/api/v1/deployments/${deployment}`);
	await call('POST', `/api/v1/assistants/${body.assistant_id}/knowledge-bases`, { knowledge_base_id: base.id });
}

/** The parts of a page's widget, and what a visitor does with them. */
export type ChatOnPage = ReturnType<typeof chatOn>;

export function chatOn(page: Page, which = 0) {
	const host = page.locator('parley-widget').nth(which);
	const panel = host.locator('.panel');
	return {
		host,
		panel,
		button: host.locator('.launcher'),
		field: panel.locator('textarea'),
		log: panel.locator('.log'),
		messages: panel.locator('.message'),
		/** The last reply. */
		reply: panel.locator('.message.theirs').last(),
		notice: panel.locator('.notice'),
		/** The bar of a visitor who waits for a person. */
		person: panel.locator('.request'),
		live: host.locator('[aria-live=polite]'),
		control: (name: string | RegExp) => panel.getByRole('button', { name, exact: typeof name === 'string' }),
		/** Evaluates an expression in the browser. `element` is the first element for the selector. */
		of: (selector: string, expression: string) =>
			page.evaluate(
				`((element) => (${expression}))(document.querySelectorAll('parley-widget')[${which}].shadowRoot.querySelector('${selector}'))`,
			),
		async open() {
			await this.button.click();
			await this.field.waitFor();
		},
		async ask(text: string) {
			// The chat sends nothing before the reply is complete. What is typed until then stays in the field.
			await panel.locator(':scope > form button[type=submit]').waitFor();
			await this.field.fill(text);
			await this.field.press('Enter');
		},
		/** Asks, and waits until the reply is complete. */
		async askAndWait(text: string, answer: string | RegExp = 'Hello.') {
			await this.ask(text);
			await this.says(answer);
			await this.control('Send').waitFor();
		},
		/** Asks for a person in the menu. */
		async requestPerson() {
			await this.control('More').click();
			await panel.locator('.menu').getByRole('button', { name: 'Talk to a person' }).click();
		},
		/** Begins a new conversation. */
		async restart() {
			await this.control('More').click();
			await this.control('New conversation').click();
		},
		/** Waits until the last reply has this text. */
		async says(text: string | RegExp) {
			await this.panel.locator('.message.theirs', { hasText: text }).last().waitFor();
		},
	};
}

/** Waits until a deployment's only conversation has this number of messages and no reply is in progress. */
export function untilAnswered(call: Call, deployment: string, count: number): Promise<boolean> {
	return until(`${count} messages are stored and answered`, async () => {
		const { body } = await call('GET', `/api/v1/conversations?deployment_id=${deployment}`);
		const messages = body.data.length === 0 ? [] : await stored(call, deployment);
		return messages.length === count && messages.every(({ status }) => status !== 'in_progress');
	});
}

/** The API's path of a deployment's newest conversation. */
export async function conversationPath(call: Call, deployment: string): Promise<string> {
	const { body } = await call('GET', `/api/v1/conversations?deployment_id=${deployment}`);
	return `/api/v1/conversations/${body.data[0].id}`;
}

/** The messages of a deployment's only conversation, as the server has them. */
export async function stored(
	call: Call,
	deployment: string,
): Promise<Array<{ role: string; content: string; status: string }>> {
	const { body } = await call('GET', `/api/v1/conversations?deployment_id=${deployment}`);
	if (body.data.length !== 1) throw new Error(`There are ${body.data.length} conversations.`);
	const { body: list } = await call('GET', `/api/v1/conversations/${body.data[0].id}/messages?limit=100`);
	return list.data.map(({ role, content, status }: { role: string; content: string; status: string }) => ({
		role,
		content,
		status,
	}));
}
