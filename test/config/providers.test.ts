import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ConfigError, loadConfig, type ProviderSettings } from '../../src/config/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-providers-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'parley.config.json');

/** The providers of a settings file and an environment. */
function providersOf(providers: unknown, env: Record<string, string> = {}): ProviderSettings[] {
	writeFileSync(file, JSON.stringify({ providers }));
	return loadConfig({ env, file }).providers;
}

function complaint(providers: unknown, env: Record<string, string> = {}): string {
	try {
		providersOf(providers, env);
	} catch (error) {
		assert.ok(error instanceof ConfigError, String(error));
		assert.match(error.message, /\.$/);
		return error.message;
	}
	return assert.fail(`${JSON.stringify(providers)} was taken`);
}

const OLLAMA = { id: 'ollama', type: 'openai-compatible', base_url: 'http://localhost:11434/v1/' };

test('a provider needs an id, a type and, unless it is a well-known service, an address', () => {
	assert.deepEqual(providersOf([OLLAMA]), [
		{
			id: 'ollama',
			type: 'openai-compatible',
			base_url: 'http://localhost:11434/v1',
			api_key: null,
			models: null,
			context_tokens: 8_192,
			max_output_tokens: null,
			first_token_timeout_ms: 60_000,
			idle_timeout_ms: 60_000,
			temperature: null,
			prices: new Map(),
		},
	]);
	assert.match(complaint([{ type: 'openai-compatible' }]), / at 0\/id is missing\. Meaning: What models are named by/);
	assert.match(
		complaint([{ id: 'ollama' }]),
		/ at 0\/type is missing\. Meaning: One of openai-compatible, openai or anthropic\./,
	);
	assert.match(complaint([{ id: 'ollama', type: 'openai-compatible' }]), / at 0\/base_url is missing\./);
});

test('a well-known service needs its key alone', () => {
	const env = { PARLEY_OPENAI_API_KEY: 'sk-proj-1', PARLEY_ANTHROPIC_API_KEY: ' sk-ant-1\n' };
	const [openai, anthropic, ...others] = providersOf([], env);
	assert.deepEqual([openai?.id, openai?.type, openai?.base_url], ['openai', 'openai', 'https://api.openai.com/v1']);
	assert.deepEqual([openai?.api_key, openai?.context_tokens, openai?.max_output_tokens], ['sk-proj-1', 128_000, null]);
	assert.deepEqual([anthropic?.id, anthropic?.base_url], ['anthropic', 'https://api.anthropic.com/v1']);
	assert.deepEqual([anthropic?.api_key, anthropic?.max_output_tokens], ['sk-ant-1', 8_192]);
	assert.equal(others.length, 0);
});

test('an entry for a well-known service adds settings and uses its key', () => {
	const entry = { id: 'openai', type: 'openai', models: [{ name: 'gpt-5' }], temperature: 0.2, idle_timeout_ms: 5_000 };
	const [openai, ...others] = providersOf([entry], { PARLEY_OPENAI_API_KEY: 'sk-proj-1' });
	assert.deepEqual([openai?.api_key, openai?.temperature, openai?.idle_timeout_ms], ['sk-proj-1', 0.2, 5_000]);
	assert.equal(others.length, 0);
	assert.match(complaint([entry]), / at 0\/api_key_env is missing\./);
});

test('sends the key of a well-known service nowhere else, unless the entry names it', () => {
	const env = { PARLEY_OPENAI_API_KEY: 'sk-proj-1', PARLEY_ANTHROPIC_API_KEY: 'sk-ant-1' };
	const proxy = { id: 'proxy', type: 'openai', base_url: 'https://proxy.example/v1' };
	assert.match(complaint([proxy], env), / at 0\/api_key_env is missing\./);
	const [asked] = providersOf([{ ...proxy, api_key_env: 'PARLEY_OPENAI_API_KEY' }], env);
	assert.equal(asked?.api_key, 'sk-proj-1');
	assert.equal(providersOf([OLLAMA], env)[0]?.api_key, null);
});

test('reads a key from the named variable, never from the file', () => {
	for (const name of ['GROQ_KEY', 'PARLEY_GROQ_KEY', 'key']) {
		const [groq] = providersOf([{ ...OLLAMA, api_key_env: name }], { [name]: ' gsk_1 ' });
		assert.equal(groq?.api_key, 'gsk_1');
	}
	assert.match(
		complaint([{ ...OLLAMA, api_key_env: 'GROQ_KEY' }]),
		/ at 0\/api_key_env names a variable that is not set\./,
	);
	assert.match(
		complaint([{ ...OLLAMA, api_key_env: 'GROQ_KEY' }], { GROQ_KEY: ' ' }),
		/names a variable that is not set/,
	);
	const twoLines = complaint([{ ...OLLAMA, api_key_env: 'GROQ_KEY' }], { GROQ_KEY: 'gsk_1\nx: y' });
	assert.match(twoLines, / at 0\/api_key_env names what cannot be a key\./);
	assert.ok(!twoLines.includes('gsk_1'));
	const inFile = complaint([{ ...OLLAMA, api_key: 'gsk_secret' }]);
	assert.match(inFile, / has api_key, which is not a setting\. Known: .*api_key_env/);
	assert.ok(!inFile.includes('gsk_secret'));
	const asName = complaint([{ ...OLLAMA, api_key_env: 'gsk-secret' }]);
	assert.match(
		asName,
		/at 0\/api_key_env is not valid\. Meaning: The name of the environment variable .*, not the key itself\./,
	);
	assert.ok(!asName.includes('gsk-secret'));
});

test('only a variable that a provider names may begin with PARLEY_ without being a setting', () => {
	assert.match(complaint([OLLAMA], { PARLEY_GROQ_KEY: 'x' }), /^PARLEY_GROQ_KEY is not a setting/);
});

test('models inherit missing fields from their provider', () => {
	const models = [
		{ name: 'llama3', description: 'Small.' },
		{ name: 'org/big:70b', context_tokens: 131_072, max_output_tokens: 9 },
	];
	const [provider] = providersOf([{ ...OLLAMA, context_tokens: 4_096, max_output_tokens: 512, models }]);
	assert.deepEqual(provider?.models, [
		{ name: 'llama3', description: 'Small.', context_tokens: 4_096, max_output_tokens: 512 },
		{ name: 'org/big:70b', description: null, context_tokens: 131_072, max_output_tokens: 9 },
	]);
});

test('a price is stored in whole micros for a million tokens', () => {
	const prices = {
		'org/small': { input: 0.15, output: 0.6 },
		'*': { input: 2.5, output: 10 },
		__proto__x: { input: 0, output: 1e6 },
	};
	assert.deepEqual(
		providersOf([{ ...OLLAMA, prices }])[0]?.prices,
		new Map([
			['org/small', { input: 150_000, output: 600_000 }],
			['*', { input: 2_500_000, output: 10_000_000 }],
			['__proto__x', { input: 0, output: 1_000_000_000_000 }],
		]),
	);
});

test('the currency is a code of three letters', () => {
	const currencyOf = (env: Record<string, string>) => loadConfig({ env, file: join(folder, 'none.json') }).currency;
	assert.deepEqual([currencyOf({}), currencyOf({ PARLEY_CURRENCY: 'EUR' })], ['USD', 'EUR']);
	assert.throws(() => currencyOf({ PARLEY_CURRENCY: 'Euro' }), /^ConfigError: PARLEY_CURRENCY is not valid\./);
});

test('reads the same list from the environment as JSON', () => {
	const env = { PARLEY_PROVIDERS: JSON.stringify([OLLAMA]) };
	assert.deepEqual(loadConfig({ env, file: join(folder, 'none.json') }).providers, providersOf([OLLAMA]));
	const wrong = { PARLEY_PROVIDERS: '[{"id": "Ollama", "type": "openai-compatible"}]' };
	assert.throws(
		() => loadConfig({ env: wrong, file: join(folder, 'none.json') }),
		/^ConfigError: PARLEY_PROVIDERS at 0\/id is not valid\./,
	);
});

test('refuses every wrong value with a sentence that says where it is and what is permitted', () => {
	const wrong: Array<[more: Record<string, unknown>, place: string]> = [
		[{ id: 'Ollama' }, '1/id'],
		[{ id: 'a/b' }, '1/id'],
		[{ id: '' }, '1/id'],
		[{ id: 'builtin' }, '1/id'],
		[{ id: 'ollama' }, '1/id'],
		[{ type: 'gemini' }, '1/type'],
		[{ base_url: 'localhost:11434' }, '1/base_url'],
		[{ base_url: 'ftp://models.example' }, '1/base_url'],
		[{ base_url: 'https://key@models.example' }, '1/base_url'],
		[{ base_url: 'https://models.example/?key=1' }, '1/base_url'],
		[{ base_url: 'https://models.example/#v1' }, '1/base_url'],
		[{ api_key_env: '' }, '1/api_key_env'],
		[{ models: [] }, '1/models'],
		[{ models: ['llama3'] }, '1/models/0'],
		[{ models: [{ name: '' }] }, '1/models/0/name'],
		[{ models: [{ name: 'a', context_tokens: 0 }] }, '1/models/0/context_tokens'],
		[{ models: [{ name: 'a', size: 1 }] }, '1/models/0'],
		[{ context_tokens: '8192' }, '1/context_tokens'],
		[{ context_tokens: 8192.5 }, '1/context_tokens'],
		[{ max_output_tokens: 0 }, '1/max_output_tokens'],
		[{ first_token_timeout_ms: 0 }, '1/first_token_timeout_ms'],
		[{ idle_timeout_ms: 600_001 }, '1/idle_timeout_ms'],
		[{ temperature: 2.1 }, '1/temperature'],
		[{ temperature: null }, '1/temperature'],
		[{ prices: [] }, '1/prices'],
		[{ prices: { 'a/b': { input: -1, output: 1 } } }, '1/prices/a~1b/input'],
		[{ prices: { '*': { input: 1 } } }, '1/prices/*/output'],
		[{ prices: { '*': { input: 1, output: 1, cached: 1 } } }, '1/prices/*'],
		[{ models: [{ name: 'a' }], prices: { b: { input: 1, output: 1 } } }, '1/prices'],
		[{ timeout: 5 }, '1'],
	];
	for (const [more, place] of wrong) {
		const sentence = complaint([OLLAMA, { ...OLLAMA, id: 'other', ...more }]);
		assert.ok(sentence.startsWith(`providers in ${file} at ${place} `), `${JSON.stringify(more)}: ${sentence}`);
	}
});

test('an embedder is the built-in one, or one of a configured provider with embeddings', () => {
	const embedderOf = (embedder: string, env: Record<string, string> = {}) => {
		writeFileSync(file, JSON.stringify({ providers: [OLLAMA], embedder }));
		return loadConfig({ env, file }).embedder;
	};
	const refused = (embedder: string, env?: Record<string, string>) => {
		try {
			embedderOf(embedder, env);
		} catch (error) {
			assert.ok(error instanceof ConfigError, String(error));
			return error.message;
		}
		return assert.fail(`${embedder} was taken`);
	};
	for (const id of ['builtin', 'ollama/bge-m3:latest', 'ollama/qwen/embedding?dimensions=4096']) {
		assert.equal(embedderOf(id), id);
	}
	assert.equal(embedderOf('openai/text-embedding-3-small', { PARLEY_OPENAI_API_KEY: 'sk-1' }).slice(0, 6), 'openai');
	assert.match(
		refused('vllm/bge-m3'),
		/^embedder in .*\.json names the provider 'vllm', which is not configured \(known: ollama\)\. /,
	);
	const env = { PARLEY_ANTHROPIC_API_KEY: 'sk-ant-1', PARLEY_EMBEDDER: 'anthropic/claude' };
	assert.match(
		refused('builtin', env),
		/^PARLEY_EMBEDDER names the provider 'anthropic', whose service has no embeddings\. /,
	);
	for (const id of ['bge-m3', 'ollama/', '/bge-m3'])
		assert.match(refused(id), / is neither builtin nor provider\/name\. /);
	for (const end of ['?dimensions=0', '?dimensions=4097', '?dimensions=many', '?x=1', '?']) {
		assert.match(refused(`ollama/bge-m3${end}`), / does not end with \?dimensions=1 to 4096\. /, end);
	}
});

test('requires one line without control characters for the name and description of a model', () => {
	for (const text of ['\u0000', 'a\u001b[2J', 'a\u009b1m', 'two\nlines', 'a\u2028b', '  ', 'tab\there']) {
		for (const field of ['name', 'description']) {
			const model = { name: 'llama', [field]: text };
			assert.match(
				complaint([{ ...OLLAMA, models: [model] }]),
				new RegExp(` at 0/models/0/${field} is not valid\\. .*one line without control characters\\.$`),
			);
		}
	}
	assert.equal(providersOf([{ ...OLLAMA, models: [{ name: 'llama', description: 'Größe: 8 B' }] }]).length, 1);
});
