import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { HOSTILE } from '../../browser/hostile-texts.ts';
import { noBrowser, startBrowser, startSite } from '../../support/browser.ts';
import { markdownText } from '../markdown/text.ts';
import type { FuzzTarget } from '../target.ts';

/**
 * Runs in the page: renders texts as the widget and as the dashboard do, presses and focuses what is there, and returns what must not be
 * there.
 */
const PAGE_SCRIPT = `
import { h, render } from './src/widget/chat/virtual-dom.ts';
import { richText } from './src/widget/chat/rich-text.tsx';
import { render as renderDashboard, h as element } from 'preact';
import { Markdown } from './src/dashboard/components/markdown.tsx';
import { loadLanguage } from './src/dashboard/languages/index.ts';
window.ready = loadLanguage();
const ELEMENTS = new Set('p h3 h4 ul ol li pre blockquote table tbody tr th td hr br strong em del code a div button svg path'.split(' '));
const ATTRIBUTES = new Set('href target rel dir class tabindex start scope type aria-label aria-expanded aria-hidden viewBox d fill stroke width height title'.split(' '));
const strings = new Proxy({}, { get: (_, name) => String(name) });
const widgetProps = (content) => ({ content, rich: true, strings, citedNumbers_: [1, 2], open: undefined, copiedText: null, onSource_() {}, onCopy() {} });
window.renderTexts = (texts) => {
	const wrong = [];
	for (const text of texts) {
		const widget = document.createElement('main');
		const dashboard = document.createElement('main');
		document.body.append(widget, dashboard);
		render(widget, [richText(widgetProps(text))].flat());
		renderDashboard(element(Markdown, { text, cited: [1, 2], onCite() {} }), dashboard);
		for (const [name, place] of [['widget', widget], ['dashboard', dashboard]]) {
			for (const each of place.querySelectorAll('*')) {
				if (!ELEMENTS.has(each.localName)) wrong.push(name + ' <' + each.localName + '>');
				for (const attribute of each.getAttributeNames()) if (!ATTRIBUTES.has(attribute)) wrong.push(name + ' ' + each.localName + ' ' + attribute + '=');
				if (each.localName === 'a' && !['http:', 'https:', 'mailto:'].includes(each.protocol)) wrong.push(name + ' ' + each.href);
				if (each.localName === 'a' && !/noopener/.test(each.rel)) wrong.push(name + ' a link without noopener');
				each.dispatchEvent(new Event('mouseover', { bubbles: true }));
				if (each.localName !== 'a') each.click?.();
				each.focus?.();
			}
			for (let node, walk = document.createTreeWalker(place, NodeFilter.SHOW_COMMENT); (node = walk.nextNode()); ) wrong.push(name + ' a comment');
		}
		render(widget, []);
		renderDashboard(null, dashboard);
		widget.remove();
		dashboard.remove();
	}
	return { wrong: [...new Set(wrong)], hacked: window.hacked ?? 0 };
};
`;

/** Markdown in Chromium, as the widget and the dashboard show it: nothing runs, nothing is loaded, no other element is there. */
export const markdownBrowser: FuzzTarget<string[]> = {
	name: 'markdown-browser',
	skip: noBrowser,
	shortRuns: 6,
	deadlineMs: 120_000,
	inputs: fc.array(
		fc.oneof({ weight: 3, arbitrary: markdownText }, { weight: 1, arbitrary: fc.constantFrom(...HOSTILE) }),
		{
			minLength: 1,
			maxLength: 60,
		},
	),
	async open() {
		const root = fileURLToPath(new URL('../../../', import.meta.url));
		// Loaded as it is installed: it cannot be a part of the bundle of tests.
		const { build } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');
		const { outputFiles } = await build({
			stdin: { contents: PAGE_SCRIPT, resolveDir: root, loader: 'ts' },
			bundle: true,
			format: 'iife',
			write: false,
			loader: { '.css': 'empty' },
			define: { VERSION: '"0"' },
		});
		const site = await startSite();
		site.serve('/script.js', outputFiles[0]?.text ?? '', { 'content-type': 'text/javascript' });
		site.serve('/', '<!doctype html><title>Texts</title><body><script src="/script.js"></script>');
		const browser = await startBrowser();
		const visitor = await browser.visitor();
		await visitor.page.goto(site.url());
		await visitor.page.evaluate('ready');
		const render = (texts: readonly string[]) =>
			visitor.page.evaluate(`renderTexts(${JSON.stringify(texts)})`) as Promise<{ wrong: string[]; hacked: number }>;
		return {
			async run(texts) {
				// The known corpus is in every input: a page must not be harmed by what it has shown before.
				assert.deepEqual(await render([...HOSTILE, ...texts]), { wrong: [], hacked: 0 });
				assert.deepEqual(visitor.foreignRequests, []);
				assert.deepEqual(visitor.problems, []);
			},
			async [Symbol.asyncDispose]() {
				await visitor[Symbol.asyncDispose]();
				await browser[Symbol.asyncDispose]();
				await site[Symbol.asyncDispose]();
			},
		};
	},
};
