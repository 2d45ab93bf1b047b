import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { skipWithoutPostgres } from '../support/postgres.ts';
import { Cluster } from './cluster/cluster.ts';
import { commitOfFrozenNode } from './cluster/late-commit.ts';
import { noFigures, World } from './world.ts';

suite('a node of a cluster that is frozen while it commits', { skip: skipWithoutPostgres }, () => {
	test('cannot write once another node serves the conversation; without the fence it would', async () => {
		await using world = await World.create(1, noFigures());
		await using cluster = await Cluster.start(world, 2);
		await cluster.untilWhole();
		await commitOfFrozenNode(world, cluster);
		// The control: the same again must fail where the database accepts commits of any node.
		await cluster.switchFenceOff();
		await assert.rejects(commitOfFrozenNode(world, cluster), /a former owner has changed what the new one serves/);
	});
});
