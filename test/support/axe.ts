import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const AXE_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * What axe finds wrong with the current state of a page, one line for each place. The page's content security policy must be
 * off (`bypassCSP`) or allow scripts.
 * @param includeUndecided also reports what axe cannot decide, except contrast: elements may overlap, so axe often gives up on it
 */
export async function axeFindings(page: Page, { includeUndecided = false } = {}): Promise<string[]> {
	if (await page.evaluate("typeof axe === 'undefined'")) await page.addScriptTag({ path: AXE });
	return page.evaluate(
		`axe.run(document, { runOnly: ${JSON.stringify(AXE_RULES)}, resultTypes: ['violations', 'incomplete'] }).then(({ violations, incomplete }) => [...violations, ...(${includeUndecided} ? incomplete.filter(({ id }) => id !== 'color-contrast') : [])].flatMap(({ id, nodes }) => nodes.map(({ target, any, all, none }) => id + ' ' + target + ' ' + [...any, ...all, ...none].map(({ message }) => message))))`,
	);
}
