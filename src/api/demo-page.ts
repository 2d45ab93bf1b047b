import type { Route } from '../http/index.ts';
import { staticPageRoutes } from './static-page.ts';

const MAIN = `<h1>A page with Parley on it</h1>
<p>A website would stand here. Show a deployment to see its chat as visitors do.</p>
<noscript><p>This page needs JavaScript.</p></noscript>
<section id="chat" class="card" hidden>
<p>The chat is in the corner. This is what puts it on a page of yours, once its domain is among the deployment's <code>allowed_domains</code>:</p>
<pre tabindex="0"><code id="snippet"></code></pre>
<p><a href="demo">Another deployment</a> · <a href="api/docs">API documentation</a></p>
</section>
<section id="choice" hidden>
<form id="known" class="card" novalidate>
<h2>A deployment of yours</h2>
<label for="deployment">Its id</label>
<input id="deployment" name="deployment_id" placeholder="dep_…" autocomplete="off" spellcheck="false">
<button type="submit">Show it</button>
</form>
<form id="example" class="card" novalidate>
<h2>Or an example</h2>
<p>This makes a small knowledge base, an assistant and a deployment over the API and shows the chat. It needs an API key: the first start made one, and <code>parley keys create</code> makes another.</p>
<label for="key">API key</label>
<input id="key" type="password" placeholder="sk_…" autocomplete="off" spellcheck="false">
<button type="submit">Make an example</button>
</form>
<p id="said" role="status" aria-live="polite"></p>
</section>
`;

/** Space below for the chat's button. */
const STYLE = `main { padding-bottom: 96px; }
#said:not(:empty) { margin-top: 16px; }
`;

/** The key is used on this page alone, and forgotten with it. */
const SCRIPT = `'use strict';
const byId = (id) => document.getElementById(id);
const said = byId('said');
const deployment = new URLSearchParams(location.search).get('deployment_id');

const KETTLES = [
	['Returns', '# Returns\\n\\nYou have 45 days to return an order, from the day on which it reached you. The kettle may have been used; please send it clean and with its cable. We refund the price and the cost of the return label within five working days.'],
	['Warranty', '# Warranty\\n\\nEvery kettle has a warranty of three years. The heating element is covered for ten years. Limescale is not covered: descale the kettle every four weeks, with 100 ml of vinegar in a litre of water.'],
	['Opening hours', '# Opening hours\\n\\nThe shop is open from Monday to Friday from 9:00 to 18:00, and on Saturday from 10:00 to 16:00. It is closed on Sundays.'],
];

function show(id) {
	const tag = document.createElement('script');
	tag.src = 'widget.js';
	tag.dataset.deploymentId = id;
	tag.dataset.open = '';
	document.head.append(tag);
	byId('snippet').textContent = '<script src="' + tag.src + '" data-deployment-id="' + id + '" async></' + 'script>';
	byId('chat').hidden = false;
}

async function call(method, path, body) {
	const response = await fetch('api/v1' + path, {
		method,
		headers: { Authorization: 'Bearer ' + byId('key').value.trim(), ...(body ? { 'Content-Type': 'application/json' } : {}) },
		...(body ? { body: JSON.stringify(body) } : {}),
	});
	const answer = await response.json();
	if (!response.ok) throw new Error(answer.error.message);
	return answer;
}

async function indexed(id) {
	const until = Date.now() + 60000;
	for (;;) {
		const { status } = await call('GET', '/knowledge-bases/' + id + '/status');
		if (status === 'ready') return;
		if (status === 'error' || Date.now() > until) throw new Error('The example could not be indexed.');
		await new Promise((resolve) => setTimeout(resolve, 250));
	}
}

async function makeExample() {
	const base = await call('POST', '/knowledge-bases', { name: 'Hollowbrook Kettles' });
	for (const [title, content] of KETTLES) {
		await call('POST', '/knowledge-bases/' + base.id + '/documents', { source_type: 'text', title, content });
	}
	await indexed(base.id);
	const assistant = await call('POST', '/assistants', { name: 'Kettle help' });
	await call('POST', '/assistants/' + assistant.id + '/knowledge-bases', { knowledge_base_id: base.id });
	return call('POST', '/deployments', {
		name: 'The demo',
		assistant_id: assistant.id,
		appearance: {
			greeting: 'Hello! I know a few things about the kettles of Hollowbrook. What would you like to know?',
			suggested_questions: ['How many days do I have to return an order?', 'How long is the warranty?', 'When is the shop open on Saturday?'],
		},
	});
}

byId('known').addEventListener('submit', (event) => {
	event.preventDefault();
	const id = byId('deployment').value.trim();
	if (id) location.search = '?deployment_id=' + encodeURIComponent(id);
	else said.textContent = 'Which deployment? Its id begins with dep_.';
});

byId('example').addEventListener('submit', async (event) => {
	event.preventDefault();
	const button = event.target.querySelector('button');
	button.disabled = true;
	said.textContent = 'One moment …';
	try {
		const { id } = await makeExample();
		location.search = '?deployment_id=' + encodeURIComponent(id);
	} catch (error) {
		said.textContent = error instanceof TypeError ? 'The server cannot be reached. Try again.' : error.message;
		button.disabled = false;
	}
});

if (deployment) show(deployment);
else byId('choice').hidden = false;
`;

/** A plain page with the widget on it, which shows what visitors of a website see. */
export function demoPageRoutes(): Route[] {
	return staticPageRoutes({
		path: '/demo',
		title: 'Demo – Parley',
		main: MAIN,
		style: STYLE,
		script: SCRIPT,
	});
}
