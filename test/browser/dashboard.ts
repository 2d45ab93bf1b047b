import assert from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { FirstStartSecrets } from '../../src/access/index.ts';
import type { AppOverrides } from '../../src/app.ts';
import type { Settings } from '../../src/config/index.ts';
import { addUser, OWNER, openCookieClient, PASSWORD } from '../access/people.ts';
import { startTestApp, type TestApp } from '../support/app.ts';
import type { TestBrowser, Visitor } from '../support/browser.ts';
import { openShop, type Shop } from './shop.ts';

/** The e-mail address of the agent of a staffed shop. */
export const ANNA = 'anna@example.com';

/** A server whose owner has the password `PASSWORD`. @param settings other than the default ones */
export async function startOwnedApp(settings: Partial<Settings> = {}, overrides: AppOverrides = {}): Promise<TestApp> {
	let first: FirstStartSecrets | undefined;
	const app = await startTestApp({
		settings,
		overrides: {
			onFirstStart: (made) => {
				first = made;
			},
			...overrides,
		},
	});
	const token = first?.passwordToken;
	const { status } = await openCookieClient(app).call('POST', '/api/v1/session/password', {
		token,
		password: PASSWORD,
	});
	assert.equal(status, 200);
	return app;
}

/** Opens the dashboard and signs in, by default as the owner. @param hash the page, for example `#/assistants` */
export async function openDashboard(
	app: { url: string },
	browser: TestBrowser,
	options: BrowserContextOptions = {},
	hash = '',
	email = OWNER,
): Promise<Visitor> {
	const visitor = await browser.visitor({ viewport: { width: 1440, height: 900 }, locale: 'en-GB', ...options });
	await visitor.page.goto(`${app.url}/dashboard${hash}`);
	await signIn(visitor.page, email);
	return visitor;
}

export async function signIn(page: Page, email = OWNER): Promise<void> {
	await page.getByLabel(/E-mail/i).fill(email);
	await page.getByLabel(/Passwor/).fill(PASSWORD);
	await page.getByRole('button', { name: /Sign in|Anmelden/ }).click();
	await page.getByRole('navigation').first().waitFor();
}

/**
 * Takes the session from the browser. The next request with this method is the first that finds out: others fail until then, because they
 * would show the form for signing in by themselves.
 */
export async function loseSession({ page, context }: Visitor, method: string): Promise<void> {
	let isFound = false;
	await page.route('**/api/**', (route) => {
		isFound ||= route.request().method() === method;
		return isFound ? route.continue() : route.abort();
	});
	await context.clearCookies();
}

/** A website with the widget, and a server on which the owner and an agent, Anna, can sign in. */
export async function openStaffedShop(): Promise<Shop> {
	const shop = await openShop({}, ({ settings, overrides } = {}) => startOwnedApp(settings, overrides));
	const id = await addUser(shop.app, ANNA, 'agent');
	const { status } = await shop.app.call('PATCH', `/api/v1/users/${id}`, { name: 'Anna' });
	assert.equal(status, 200);
	return shop;
}

/** How many pixels the page is wider than the window. */
export const overflowOf = (page: Page): Promise<number> =>
	page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** The smallest size of what can be pressed (px): WCAG 2.2, success criterion 2.5.8. */
const LEAST_TARGET_PX = 24;

/** What can be pressed on the page and is smaller than it should be, each with its size. Links within a sentence may be small. */
export const smallTargets = (page: Page): Promise<string[]> =>
	page.evaluate(`(() => {
		const selector = 'a[href], button, input, select, textarea, summary, [role=button], [role=tab], [role=option]';
		const isInSentence = (element) => {
			const { parentElement: parent } = element;
			return element.matches('a') && getComputedStyle(element).display === 'inline' &&
				parent.textContent.trim().length > element.textContent.trim().length;
		};
		return [...document.querySelectorAll(selector)]
			.filter((element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
			.filter((element) => !element.closest('[inert]') && !isInSentence(element))
			.map((element) => ({ element, box: element.getBoundingClientRect() }))
			// A link to the content is outside of the window until it has the focus.
			.filter(({ box }) => box.width > 0 && box.bottom > 0)
			.filter(({ box }) => box.width < ${LEAST_TARGET_PX} || box.height < ${LEAST_TARGET_PX})
			.map(({ element, box }) =>
				(element.getAttribute('aria-label') ?? element.textContent.trim()) + ': ' + box.width + ' × ' + box.height);
	})()`);
