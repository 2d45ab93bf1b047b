import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { VisitorTokenSettings, VisitorTokens } from '../../src/access/index.ts';
import { createLog, SecretBox, systemClock } from '../../src/base/index.ts';
import { type CodeLanguage, tokenCode } from '../../src/dashboard/pages/deployments/token-code.ts';
import { findProgram } from '../support/programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-code-'));
after(() => rmSync(folder, { recursive: true }));

const secrets = new SecretBox(Buffer.alloc(32, 7));
const network = { checkUrl: () => {} } as never;
const tokens = new VisitorTokens({ secrets, network, clock: systemClock, log: createLog('silent') });
const settings = new VisitorTokenSettings({ secrets, network });
const SECRET = 'a secret of the shop, long enough';
const USER = { id: 'customer-17', name: 'Ann "the" Example', email: 'ann@example.com' };
/** Texts with characters that a language could take for its own. */
const CLAIMS = { audience: 'chat "$shop" \\ \'x\'', issuer: 'https://shop.example' };

/** Each language: its program, and a program that prints the token of USER. */
const RUNNERS: { [L in CodeLanguage]: { program: string; file: string; call: string } } = {
	node: { program: process.execPath, file: 'token.mjs', call: `console.log(chatToken(${JSON.stringify(USER)}));` },
	python: { program: 'python3', file: 'token_code.py', call: `print(chat_token(${JSON.stringify(USER)}))` },
	php: {
		program: 'php',
		file: 'token.php',
		call: `echo chat_token(json_decode('${JSON.stringify(USER)}', true));`,
	},
};

function run(language: CodeLanguage, code: string, env: Record<string, string>): string {
	const { program, file, call } = RUNNERS[language];
	const path = join(folder, file);
	writeFileSync(path, `${code}\n${call}\n`);
	const { status, stdout, stderr } = spawnSync(program, [path], { encoding: 'utf8', env: { ...process.env, ...env } });
	assert.equal(status, 0, stderr);
	return stdout.trim();
}

for (const language of ['node', 'python', 'php'] as const) {
	const isMissing = language !== 'node' && findProgram(RUNNERS[language].program) === null;
	test(`the code for ${language} makes a token that a deployment with a shared secret accepts`, {
		skip: isMissing && `${RUNNERS[language].program} is not installed.`,
	}, async () => {
		const jwt = settings.merge(null, { algorithm: 'HS256', secret: SECRET, ...CLAIMS });
		const code = tokenCode(language, { algorithm: 'HS256', ...CLAIMS, hasKeySet: false });
		const token = run(language, code, { CHAT_SECRET: SECRET });
		assert.deepEqual((await tokens.verifyToken(jwt, token)).end_user, USER);
	});
}

test('the code for node makes tokens with both kinds of key pairs', async () => {
	for (const [algorithm, { publicKey, privateKey }] of [
		['RS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
		['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
	] as const) {
		const public_key = publicKey.export({ type: 'spki', format: 'pem' }) as string;
		const jwt = settings.merge(null, { algorithm, public_key });
		const code = tokenCode('node', { algorithm, audience: null, issuer: null, hasKeySet: false });
		const token = run('node', code, {
			CHAT_PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
		});
		assert.deepEqual((await tokens.verifyToken(jwt, token)).end_user, USER, algorithm);
	}
});

test('the code names the key where it is found in a key set, and only optional claims that are set', () => {
	for (const language of ['node', 'python', 'php'] as const) {
		const options = { algorithm: 'RS256', audience: null, issuer: '' } as const;
		assert.match(tokenCode(language, { ...options, hasKeySet: true }), /kid.*the id of your key/);
		assert.doesNotMatch(tokenCode(language, { ...options, hasKeySet: false }), /kid|aud\b|iss\b/);
	}
});
