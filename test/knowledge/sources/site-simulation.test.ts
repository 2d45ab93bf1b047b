import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import test, { after } from 'node:test';
import { startTestApp } from '../../support/app.ts';
import { type FollowedSource, followSource, htmlPage, startWebsite, type Website } from './website.ts';

/** `SITES` simulates more sites; `SITES=1 SEED=7` repeats the site with the seed 7. */
const SEEDS = Number(process.env.SITES ?? 3);
const FIRST_SEED = Number(process.env.SEED ?? 1);
const PAGES = 7;
const RUNS = 4;

const app = await startTestApp({ settings: { allow_private_network: true }, overrides: { crawlDelayMs: 0 } });
after(() => app[Symbol.asyncDispose]());

type Random = (below: number) => number;

function randomOf(seed: number): Random {
	let state = seed * 2_654_435_761;
	return (below) => {
		state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
		return (state >>> 0) % below;
	};
}

const pathOf = (page: number) => (page === 0 ? '/' : `/${page}`);
const redirectTo =
	(location: string): RequestListener =>
	(_request, response) =>
		void response.writeHead(302, { location }).end();
const fails: RequestListener = (_request, response) => void response.writeHead(500).end();

/** Makes a page another one: other content or links, missing, a redirect, a copy, or a failure. The start is always a page. */
function change(site: Website, page: number, random: Random, { isLast }: { isLast: boolean }): void {
	const path = pathOf(page);
	const links = Array.from({ length: 3 }, () => pathOf(random(PAGES)));
	const text = `Text number ${random(4)}${random(2) === 0 ? '' : ` of page ${page}`}.`;
	const other = pathOf(random(PAGES));
	const kind = page === 0 ? 'page' : ['missing', 'redirect', 'canonical', 'noindex', 'failure'][random(10)];
	if (kind === 'missing') site.pages.delete(path);
	// What fails at the end keeps its former content, which a new source does not have.
	else if (kind === 'redirect') site.pages.set(path, redirectTo(isLast ? '/' : other));
	else if (kind === 'failure' && !isLast) site.pages.set(path, fails);
	else if (kind === 'canonical') {
		site.pages.set(path, htmlPage('Page', text, links, `<link rel="canonical" href="${other}">`));
	} else {
		const head = kind === 'noindex' ? '<meta name="robots" content="noindex">' : '';
		site.pages.set(path, htmlPage('Page', text, links, head));
	}
}

/** The texts of a source's documents. */
async function textsOf({ base }: FollowedSource): Promise<string[]> {
	const documents = `/api/v1/knowledge-bases/${base}/documents`;
	const { body } = await app.call('GET', `${documents}?limit=100`);
	const texts: string[] = [];
	for (const { id, status } of body.data) {
		assert.equal(status, 'indexed');
		const { body: chunks } = await app.call('GET', `${documents}/${id}/chunks`);
		texts.push(chunks.data.map(({ text }: { text: string }) => text).join('\n'));
	}
	return texts.sort();
}

for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
	test(`a source that follows a changing site ends with the documents of a new source (seed ${seed})`, async () => {
		const random = randomOf(seed);
		await using site = await startWebsite();
		const settings = { type: 'website', url: `${site.url}/`, refresh_hours: null };
		for (let page = 0; page < PAGES; page++) change(site, page, random, { isLast: false });
		const source = await followSource(app, settings);
		await source.untilDone();
		for (let run = 0; run < RUNS; run++) {
			for (let count = random(4); count >= 0; count--) change(site, random(PAGES), random, { isLast: false });
			await source.refresh();
		}
		for (let page = 0; page < PAGES; page++) change(site, page, random, { isLast: true });
		// What is gone, redirects or is a copy is missed twice; a page that counted as another one may need as many runs more.
		for (let run = 0; run < 4; run++) await source.refresh();
		const fresh = await followSource(app, settings);
		await fresh.untilDone();
		assert.deepEqual(await textsOf(source), await textsOf(fresh), (await source.pages()).join('\n'));
	});
}
