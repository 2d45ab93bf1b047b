import assert from 'node:assert/strict';
import { shardOf } from '../../../src/cluster/index.ts';
import { until } from '../../support/until.ts';
import { replyTo } from '../ledger.ts';
import type { World } from '../world.ts';
import type { Cluster } from './cluster.ts';

const QUESTION = 'question 2';

/**
 * A node is frozen while its commit of a question is on the way to PostgreSQL. Another node takes the conversation over and serves it; then
 * the commit arrives. This needs no luck: the proxies hold the commit until the new owner has answered, whichever node makes it; after a
 * start, shards are still handed over.
 * @throws AssertionError where the commit of the former owner is carried out, or the conversation does not go on
 */
export async function commitOfFrozenNode(world: World, cluster: Cluster): Promise<void> {
	const { deployment } = world.sceneOfServers;
	const first = await cluster.call('POST', '/api/v1/messages', { deployment_id: deployment, content: 'question 1' });
	assert.equal(first.status, 201, JSON.stringify(first.body));
	const conversation: string = first.body.conversation_id;
	const shard = shardOf(conversation);
	const ask = (content: string) =>
		cluster.call('POST', '/api/v1/messages', { deployment_id: deployment, conversation_id: conversation, content });
	const messages = async () => {
		const { status, body } = await cluster.call('GET', `/api/v1/conversations/${conversation}/messages`);
		assert.equal(status, 200, JSON.stringify(body));
		return body.data.map(({ role, content }: { role: string; content: string }) => `${role}: ${content}`);
	};

	for (const { proxy } of cluster.nodes) proxy.hold(QUESTION);
	const unanswered = ask(QUESTION).catch(() => null);
	const { server } = await until('the commit is on its way', () =>
		cluster.nodes.find(({ proxy }) => proxy.isHolding()),
	);
	process.kill(server.pid, 'SIGSTOP');
	world.count('freezes in a commit');
	const owner = cluster.nodes.findIndex((node) => node.server === server);
	const batchOfNode = async () => {
		// Its other writer, for work in the background, may have a batch on the way as well.
		const [row] = await cluster.query(
			"SELECT batch FROM parley.writers WHERE id LIKE $1 AND id NOT LIKE '%-background'",
			[`${server.pid}-%`],
		);
		return row?.batch;
	};
	const batch = await batchOfNode();
	await until('another node owns the conversation', async () => {
		const at = await cluster.ownerOf(shard);
		return at !== null && at !== owner;
	});
	await until('the load balancer has found the node down', () => !cluster.balancer.isUp(owner));
	const shown = await messages();
	for (const { proxy } of cluster.nodes) proxy.release();
	await until('the commit has arrived', async () => (await batchOfNode()) !== batch);
	process.kill(server.pid, 'SIGCONT');
	await unanswered;
	assert.deepEqual(await messages(), shown, 'a former owner has changed what the new one serves');

	const next = await ask('question 3');
	assert.equal(next.status, 201, JSON.stringify(next.body));
	assert.deepEqual(await messages(), [...shown, 'user: question 3', `assistant: ${replyTo('question 3')}`]);
	await cluster.untilWhole();
}
