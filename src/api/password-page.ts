import { type Route, StaticFiles } from '../http/index.ts';

/** Only the server's own files, and no form that goes anywhere by itself. */
const POLICY =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>Set your password – Parley</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/set-password/page.css">
</head>
<body>
<main>
<h1>Set your password</h1>
<noscript><p>This page needs JavaScript.</p></noscript>
<form id="form" hidden novalidate>
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="12" maxlength="200" aria-describedby="hint said">
<p id="hint">At least 12 characters. A few words that only you put together are good.</p>
<label class="choice"><input id="show" type="checkbox"> Show it</label>
<button type="submit">Set password</button>
</form>
<p id="said" role="status" aria-live="polite"></p>
</main>
<script src="/set-password/page.js"></script>
</body>
</html>
`;

const STYLE = `:root { color-scheme: light dark; font: 100%/1.5 system-ui, sans-serif; }
body { margin: 0; }
main { max-width: 24rem; margin: 10vh auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; }
label { display: block; font-weight: 600; }
label.choice { font-weight: 400; margin: 0.5rem 0 1rem; }
input[type='password'], input[type='text'] { box-sizing: border-box; width: 100%; padding: 0.5rem; font: inherit; }
button { padding: 0.5rem 1rem; font: inherit; cursor: pointer; }
#hint { margin: 0.25rem 0; font-size: 0.9rem; }
`;

/** The token stays in the fragment until it is used: whoever reloads the page still has it. */
const SCRIPT = `'use strict';
const form = document.getElementById('form');
const password = document.getElementById('password');
const show = document.getElementById('show');
const button = form.querySelector('button');
const said = document.getElementById('said');

function say(text, wrong) {
	said.textContent = text;
	if (wrong) password.setAttribute('aria-invalid', 'true');
	else password.removeAttribute('aria-invalid');
}

const token = () => location.hash.slice(1);

function begin() {
	form.hidden = token() === '';
	say(form.hidden ? 'This address is not complete: open the whole link that you were given.' : '', false);
	if (!form.hidden) password.focus();
}

async function set() {
	const response = await fetch('/api/v1/session/password', {
		method: 'POST',
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify({ token: token(), password: password.value }),
	});
	const answer = await response.json();
	if (!response.ok) throw new Error(answer.error.message);
	return answer;
}

show.addEventListener('change', () => {
	password.type = show.checked ? 'text' : 'password';
});

form.addEventListener('submit', async (event) => {
	event.preventDefault();
	if (password.value.length < 12) {
		say('The password needs at least 12 characters.', true);
		password.focus();
		return;
	}
	button.disabled = true;
	say('One moment …', false);
	try {
		const { user } = await set();
		history.replaceState(null, '', location.pathname);
		form.remove();
		say('The password of ' + user.email + ' is set. You can sign in with it now.', false);
	} catch (error) {
		say(error instanceof TypeError ? 'The server cannot be reached. Try again.' : error.message, true);
		button.disabled = false;
		password.focus();
	}
});

addEventListener('hashchange', begin);
begin();
`;

/** The page on which a person sets a password by a link: no framework, nothing from other hosts. */
export function passwordPageRoutes(): Route[] {
	const files = new StaticFiles(
		[
			['index.html', PAGE],
			['page.css', STYLE],
			['page.js', SCRIPT],
		],
		{ contentSecurityPolicy: POLICY },
	);
	const route = (path: string, name: string): Route => ({
		method: 'GET',
		path,
		sampled: true,
		handle: (request) => files.reply(name, request),
	});
	return [
		route('/set-password', 'index.html'),
		route('/set-password/page.css', 'page.css'),
		route('/set-password/page.js', 'page.js'),
	];
}
