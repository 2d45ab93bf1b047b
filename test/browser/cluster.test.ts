import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { shardOf } from '../../src/cluster/index.ts';
import { noBrowser, startBrowser, type TestBrowser } from '../support/browser.ts';
import { ModelServer } from '../support/model-server.ts';
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { findProgram } from '../support/programs.ts';
import { until } from '../support/until.ts';
import { chatOn } from './shop.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const skip =
	noBrowser ||
	skipWithoutPostgres ||
	(findProgram('nginx') === null && 'skipped: nginx is not installed (Debian: apt-get install nginx-light)');

suite('examples/cluster in a browser', { skip }, () => {
	let postgres: PostgresServer;
	let model: ModelServer;
	let browser: TestBrowser;
	let cluster: ChildProcess;
	let database: pg.Client;
	let output = '';

	before(async () => {
		[postgres, model, browser] = await Promise.all([startPostgres(), ModelServer.start(), startBrowser()]);
		// The program needs a host in the URL. The one of its query counts.
		const url = (await postgres.database('example')).replace('@/', '@localhost/');
		database = new pg.Client(url);
		await database.connect();
		const { id, type, base_url } = model.provider();
		cluster = spawn(process.execPath, ['examples/cluster/start.mjs', url], {
			cwd: root,
			env: {
				PATH: process.env.PATH ?? '',
				PORT: '0',
				PARLEY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
				PARLEY_PROVIDERS: JSON.stringify([{ id, type, base_url, api_key_env: 'STAND_IN_KEY' }]),
				PARLEY_DEFAULT_MODEL: 'stand-in/small',
				STAND_IN_KEY: 'sk-stand-in-0123456789abcdef',
			},
		});
		for (const stream of [cluster.stdout, cluster.stderr]) {
			stream?.on('data', (bytes: Buffer) => {
				output += bytes.toString();
			});
		}
		await until('the cluster has started', () => {
			if (cluster.exitCode !== null) throw new Error(output);
			return output.includes('Ctrl-C ends everything.');
		});
	});

	after(async () => {
		if (cluster?.exitCode === null) {
			const ended = once(cluster, 'exit');
			cluster.kill('SIGINT');
			await ended;
		}
		await browser?.[Symbol.asyncDispose]();
		await model?.[Symbol.asyncDispose]();
		await database?.end();
		await postgres?.[Symbol.asyncDispose]();
	});

	/** The id of the only conversation that is answered at present. */
	async function answeredConversation(): Promise<string> {
		const { rows } = await database.query(
			"SELECT conversation_id AS id FROM parley.messages WHERE status = 'in_progress'",
		);
		assert.equal(rows.length, 1);
		return rows[0].id;
	}

	/** The process of the node that serves a conversation. */
	async function processOf(conversation: string): Promise<number> {
		const { rows } = await database.query('SELECT owner FROM parley.shards WHERE id = $1', [shardOf(conversation)]);
		return Number.parseInt(rows[0].owner, 10);
	}

	/** Opens the chat whose address the example prints, and records all notices from then on. */
	async function openChat() {
		const visitor = await browser.visitor();
		const address = /Chat: +(\S+)/.exec(output)?.[1] as string;
		await visitor.page.goto(address);
		const chat = chatOn(visitor.page);
		await chat.field.waitFor();
		await watchNotices(chat);
		return { visitor, chat };
	}

	async function watchNotices(chat: ReturnType<typeof chatOn>) {
		await chat.of(
			'.panel',
			`void (window.notices = [], new MutationObserver(() => {
				const notice = element.querySelector('.notice');
				if (notice) window.notices.push(notice.textContent);
			}).observe(element, { childList: true, subtree: true, characterData: true }))`,
		);
	}

	/** The model stops in the middle of its first answer. Asked again, it writes all of it. */
	function stopOnce() {
		model.enqueue(
			[{ say: 'The answer begins ' }, { hang: true }],
			[{ say: 'The answer begins ' }, { pause: 100 }, { say: 'and comes ' }, { pause: 100 }, { say: 'to its end.' }],
		);
	}

	test('the node that serves a chat is killed in mid-answer, and the answer goes on', async () => {
		const { visitor, chat } = await openChat();
		await using _ = visitor;
		stopOnce();
		await chat.ask('Tell me.');
		await chat.says('The answer begins');
		const conversation = await answeredConversation();
		const served = await processOf(conversation);
		process.kill(served, 'SIGKILL');
		await chat.says('The answer begins and comes to its end.');
		await chat.control('Send').waitFor();
		assert.notEqual(await processOf(conversation), served);
		assert.deepEqual(await visitor.page.evaluate('window.notices'), []);
		assert.equal(await chat.messages.filter({ hasText: 'The answer begins' }).count(), 1);
		const { rows } = await database.query(
			'SELECT role, status FROM parley.messages WHERE conversation_id = $1 ORDER BY id',
			[conversation],
		);
		assert.deepEqual(
			rows.map(({ role, status }) => `${role} ${status}`),
			['user completed', 'assistant completed'],
		);
		assert.deepEqual(visitor.problems, []);
	});

	test('a chat that was loaded again during the answer shows nothing of the kill either', async () => {
		const { visitor, chat } = await openChat();
		await using _ = visitor;
		stopOnce();
		await chat.ask('Tell me more.');
		await chat.says('The answer begins');
		await visitor.page.reload();
		await chat.says('The answer begins');
		await watchNotices(chat);
		const conversation = await answeredConversation();
		process.kill(await processOf(conversation), 'SIGKILL');
		await chat.says('The answer begins and comes to its end.');
		await chat.control('Send').waitFor();
		assert.deepEqual(await visitor.page.evaluate('window.notices'), []);
		assert.equal(await chat.messages.filter({ hasText: 'The answer begins' }).count(), 1);
	});
});
