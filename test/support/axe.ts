import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const AXE_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What axe finds wrong with a page as it is now, a line for each place. The page's policy must be lifted for this (bypassCSP). */
export async function axeFindings(page: Page): Promise<string[]> {
	if (await page.evaluate("typeof axe === 'undefined'")) await page.addScriptTag({ path: AXE });
	return page.evaluate(
		`axe.run(document, { runOnly: ${JSON.stringify(AXE_RULES)}, resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target + ' ' + failureSummary)))`,
	);
}
