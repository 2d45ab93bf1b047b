// npm run screenshot: makes docs/widget.png, a picture of the widget on the demo page of a new server, with a question about the sample
// documents and its answer. `npm run screenshot -- dashboard` makes pictures of all pages of the dashboard in .build/screenshots/, and
// `npm run screenshot -- dashboard docs` those of docs/dashboard.md.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { photographDashboard } from './dashboard-screenshots.mjs';
import { ensureInstalled } from './install.mjs';
import { ensureBrowser } from './programs.mjs';
import { main, root, say, UserError } from './project.mjs';
import { addSamples, DEADLINE_MS, openBrowser, startServer } from './sample-server.mjs';

const FILE = 'docs/widget.png';
const SIZE = { width: 900, height: 600 };
const QUESTION = 'How many days do I have to return an order?';
const APPEARANCE = {
	assistant_name: 'Kettle help',
	status_text: 'About our kettles',
	primary_color: '#0f766e',
	greeting: 'Hello! How can I help?',
};

await main(async () => {
	await ensureInstalled();
	const executablePath = await ensureBrowser();
	if (executablePath === null) throw new UserError('There is no Chromium to make the screenshot with.');
	await ensureBuilt();
	const [subject, ...words] = process.argv.slice(2);
	if (subject === 'dashboard') return photographDashboard(executablePath, words);
	const server = await startServer();
	try {
		await photograph(executablePath, `${server.url}/demo?deployment_id=${await deploy(server)}`);
	} finally {
		await server.stop();
	}
	say(`${FILE}: ${Math.round(statSync(join(root, FILE)).size / 1000)} kB`);
});

/** The id of a deployment whose assistant has the sample documents. */
async function deploy(server) {
	const { call } = server;
	const knowledge_base_id = await addSamples(server);
	const assistant = await call('POST', 'assistants', { name: 'Kettle help' });
	await call('POST', `assistants/${assistant.id}/knowledge-bases`, { knowledge_base_id });
	return (await call('POST', 'deployments', { assistant_id: assistant.id, appearance: APPEARANCE })).id;
}

async function photograph(executablePath, url) {
	const browser = await openBrowser(executablePath);
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
