import assert from 'node:assert/strict';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { axeFindings } from '../support/axe.ts';

/** The folder of screenshots for people. Git ignores them. */
export const PICTURES = fileURLToPath(new URL('../../.build/screenshots/', import.meta.url));

/** Waits until all animations that run once have ended. */
export async function settled(page: Page): Promise<void> {
	await page.evaluate(
		"Promise.all(document.querySelector('parley-widget').shadowRoot.querySelector('.frame').getAnimations({ subtree: true }).filter((one) => one.effect.getTiming().iterations === 1).map((one) => one.finished)).then(() => undefined)",
	);
}

/** Texts of the chat with a contrast below 4.5 to their background. axe cannot decide contrast where elements may overlap. */
const FAINT = `(() => {
	const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
	const over = ([r, g, b, a = 1], under) => [r, g, b].map((value, index) => value * a + under[index] * (1 - a));
	const under = (element) => {
		const above = element.parentElement ? under(element.parentElement) : [255, 255, 255];
		return over(numbers(getComputedStyle(element).backgroundColor), above);
	};
	const light = (rgb) => rgb.map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
	const luminance = (rgb) => light(rgb).reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
	const faint = [];
	let seen = 0;
	for (const element of document.querySelector('parley-widget').shadowRoot.querySelectorAll('.panel *')) {
		if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
		if (element.closest('.unseen, :disabled') || !element.getClientRects().length) continue;
		seen++;
		const ground = under(element);
		const [one, two] = [luminance(over(numbers(getComputedStyle(element).color), ground)), luminance(ground)];
		const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
		if (contrast < 4.5) faint.push(element.localName + '.' + element.className + ' ' + contrast.toFixed(2) + ' ' + element.textContent.slice(0, 40));
	}
	return { seen, faint };
})()`;

/**
 * Takes a screenshot, and fails on findings of axe, on what axe cannot decide, and on texts with too little contrast. Contrast is
 * computed here, because axe cannot decide it where elements may overlap.
 */
export async function lookAt(page: Page, name: string): Promise<void> {
	await settled(page);
	await page.screenshot({ path: join(PICTURES, `${name}.png`) });
	assert.deepEqual(await axeFindings(page, { includeUndecided: true }), [], name);
	const { seen, faint } = (await page.evaluate(FAINT)) as { seen: number; faint: string[] };
	assert.deepEqual(faint, [], name);
	assert.ok(seen > 0 || name.endsWith('-closed'), 'there is text to be looked at');
}

/** The same in light and dark, for a chat whose theme is `auto`. */
export async function lookAtBoth(page: Page, name: string): Promise<void> {
	for (const colorScheme of ['light', 'dark'] as const) {
		await page.emulateMedia({ colorScheme });
		await page.locator(`.frame[data-theme=${colorScheme}]`).waitFor({ state: 'attached' });
		await lookAt(page, `${colorScheme}-${name}`);
	}
}
