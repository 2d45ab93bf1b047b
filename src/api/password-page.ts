import type { Route } from '../http/index.ts';
import { staticPageRoutes } from './static-page.ts';

const MAIN = `<h1>Set your password</h1>
<noscript><p>This page needs JavaScript.</p></noscript>
<form id="form" class="card" hidden novalidate>
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="12" maxlength="200" aria-describedby="hint said">
<p id="hint">At least 12 characters. Several words that do not belong together are good.</p>
<label class="choice"><input id="show" type="checkbox"> Show it</label>
<button type="submit">Set password</button>
</form>
<p id="said" role="status" aria-live="polite"></p>
<p id="next" hidden><a href="dashboard">Sign in to the dashboard</a></p>
`;

const STYLE = `main { max-width: 464px; }
label.choice { display: flex; gap: 8px; align-items: center; margin: 0 0 16px; font-weight: 400; }
label.choice input { width: 16px; height: 16px; margin: 0; accent-color: var(--accent); }
#password { margin-bottom: 4px; }
#hint { font-size: 13px; color: var(--soft); }
#said { margin-top: 16px; }
[aria-invalid='true'] { border-color: var(--wrong) !important; }
`;

/** The token stays in the fragment until it is used: a reloaded page still has it. */
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

async function post(path, body) {
	const response = await fetch(path, {
		method: 'POST',
		headers: { 'Content-Type': 'application/json' },
		body: JSON.stringify(body),
	});
	const answer = await response.json();
	if (!response.ok) throw new Error(answer.error.message);
	return answer;
}

/** If signing in fails, the person can do it on the dashboard's own form. */
async function signIn({ user, workspace }) {
	try {
		await post('api/v1/session', { email: user.email, password: password.value, workspace_id: workspace.id });
		location.replace('dashboard');
	} catch {
		document.getElementById('next').hidden = false;
	}
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
		const owner = await post('api/v1/session/password', { token: token(), password: password.value });
		history.replaceState(null, '', location.pathname);
		form.remove();
		say('The password of ' + owner.user.email + ' is set.', false);
		await signIn(owner);
	} catch (error) {
		say(error instanceof TypeError ? 'The server cannot be reached. Try again.' : error.message, true);
		button.disabled = false;
		password.focus();
	}
});

addEventListener('hashchange', begin);
begin();
`;

/** The page on which a user sets a password by a link. */
export function passwordPageRoutes(): Route[] {
	return staticPageRoutes({
		path: '/set-password',
		title: 'Set your password – Parley',
		// The address holds a token.
		head: '<meta name="referrer" content="no-referrer">\n',
		main: MAIN,
		style: STYLE,
		script: SCRIPT,
	});
}
