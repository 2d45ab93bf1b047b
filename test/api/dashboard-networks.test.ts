import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { assertRefused, openCookieClient, PASSWORD, request, startAppWithUsers } from '../access/people.ts';
import { ORIGIN } from '../support/app.ts';
import { createApiFixture } from './fixture.ts';

const INSIDE = ['127.0.0.1', '10.1.2.3', '2001:db8:1::7', '::ffff:10.9.9.9'];
const OUTSIDE = ['192.0.2.7', '11.0.0.1', '2001:db8:2::1', '::ffff:192.0.2.7'];

const people = await startAppWithUsers({
	settings: { trusted_proxies: ['127.0.0.1'], dashboard_networks: ['127.0.0.1', '10.0.0.0/8', '2001:db8:1::/48'] },
});
const { app, owner } = people;
after(() => people[Symbol.asyncDispose]());

const from = (address: string) => ({ 'x-forwarded-for': address });
const session = { cookie: `parley_session=${owner.cookie}` };

/** A page or file, whose content the test does not read. */
async function statusOf(path: string, headers: Record<string, string>): Promise<number> {
	const response = await fetch(app.url + path, { headers });
	await response.arrayBuffer();
	return response.status;
}

test('signs people in from the networks of the setting only', async () => {
	const credentials = { email: 'owner@localhost', password: PASSWORD };
	for (const address of INSIDE) {
		const answer = await openCookieClient(app).call('POST', '/api/v1/session', credentials, from(address));
		assert.equal(answer.status, 201, address);
	}
	for (const address of OUTSIDE) {
		const answer = await openCookieClient(app).call('POST', '/api/v1/session', credentials, from(address));
		assertRefused(answer, 403, 'address_not_allowed', address);
		assert.equal(answer.headers.get('set-cookie'), null);
	}
});

test('refuses a session that is used from elsewhere, for every kind of operation', async () => {
	for (const path of ['/api/v1/session', '/api/v1/assistants', '/api/v1/sessions', '/api/v1/events?stream=true']) {
		for (const address of OUTSIDE) {
			const answer = await request(app.url, 'GET', path, undefined, { ...session, ...from(address) });
			assertRefused(answer, 403, 'address_not_allowed', `${path} ${address}`);
			assert.equal(answer.headers.get('set-cookie'), null, 'the session is not renewed');
		}
	}
	for (const address of INSIDE) {
		const answer = await request(app.url, 'GET', '/api/v1/session', undefined, { ...session, ...from(address) });
		assert.equal(answer.status, 200, address);
	}
});

test('refuses links for passwords from elsewhere', async () => {
	const body = { token: 'x', password: PASSWORD };
	const answer = await request(app.url, 'POST', '/api/v1/session/password', body, from('192.0.2.7'));
	assertRefused(answer, 403, 'address_not_allowed');
});

test('shows the pages of the dashboard in these networks only', async () => {
	for (const path of [
		'/dashboard',
		'/dashboard/preview',
		'/dashboard/index.html',
		'/set-password',
		'/set-password/page.js',
	]) {
		assert.equal(await statusOf(path, { ...session, ...from('192.0.2.7') }), 403, path);
		assert.equal(await statusOf(path, { ...session, ...from('10.0.0.1') }), 200, path);
	}
});

test('refuses a client whose address the proxy does not name, although the address of the proxy is allowed', async () => {
	for (const address of ['unknown', '_hidden', '10.1.2.3%eth0', '10.1.2.3,']) {
		const answer = await request(app.url, 'GET', '/api/v1/session', undefined, { ...session, ...from(address) });
		assertRefused(answer, 403, 'address_not_allowed', address);
		assert.match(answer.body.error.message, /\(unknown\)/);
	}
	assert.equal((await request(app.url, 'GET', '/api/v1/session', undefined, session)).status, 200, 'without a proxy');
});

test('believes X-Forwarded-For as far as trusted proxies wrote it', async () => {
	const forged = await request(app.url, 'GET', '/api/v1/session', undefined, {
		...session,
		...from('10.0.0.1, 192.0.2.7'),
	});
	assertRefused(forged, 403, 'address_not_allowed');
	const proxied = await request(app.url, 'GET', '/api/v1/session', undefined, {
		...session,
		...from('192.0.2.7, 10.0.0.1'),
	});
	assert.equal(proxied.status, 200);
});

test('leaves API keys and the widget alone', async () => {
	const { deployment } = await createApiFixture(app);
	for (const address of OUTSIDE) {
		const withKey = await app.call('GET', '/api/v1/assistants', undefined, { ...session, ...from(address) });
		assert.equal(withKey.status, 200, address);
		const config = `/api/v1/widget/config?deployment_id=${deployment}`;
		const visitor = await request(app.url, 'GET', config, undefined, { ...session, origin: ORIGIN, ...from(address) });
		assert.equal(visitor.status, 200, address);
		assert.equal(await statusOf('/widget.js', from(address)), 200);
	}
});
