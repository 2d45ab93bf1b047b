import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import test, { after } from 'node:test';
import { unpackFolderCandidates } from '../../src/binary/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'parley-places-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const nowhere = join(folder, 'none.json');

test('unpacks into the user’s cache by default, or else beside the data', () => {
	const data = resolve('data/run/cache');
	assert.deepEqual(unpackFolderCandidates({ env: {}, file: nowhere, home: '/home/ann' }), [
		'/home/ann/.cache/parley',
		data,
	]);
	assert.deepEqual(unpackFolderCandidates({ env: { XDG_CACHE_HOME: '/caches' }, file: nowhere, home: '/home/ann' }), [
		'/caches/parley',
		data,
	]);
	const relative = unpackFolderCandidates({ env: { XDG_CACHE_HOME: 'caches' }, file: nowhere, home: '/home/ann' });
	assert.equal(relative[0], '/home/ann/.cache/parley', 'as the XDG specification demands');
	assert.deepEqual(unpackFolderCandidates({ env: {}, file: nowhere, home: null }), [data]);
	const elsewhere = unpackFolderCandidates({ env: { PARLEY_DATA_DIR: '/srv/parley' }, file: nowhere, home: null });
	assert.deepEqual(elsewhere, ['/srv/parley/cache']);
});

test('uses only the configured folder, from the environment or from the file', () => {
	const file = join(folder, 'parley.config.json');
	writeFileSync(file, JSON.stringify({ cache_dir: '/from/file', data_dir: '/data/of/file' }));
	const home = '/home/ann';
	assert.deepEqual(unpackFolderCandidates({ env: { PARLEY_CACHE_DIR: ' /set ' }, file, home }), ['/set']);
	assert.deepEqual(unpackFolderCandidates({ env: { PARLEY_CACHE_DIR: 'here' }, file, home }), [resolve('here')]);
	assert.deepEqual(unpackFolderCandidates({ env: { PARLEY_CACHE_DIR: '' }, file, home }), ['/from/file']);
	writeFileSync(file, JSON.stringify({ cache_dir: 7, data_dir: '/data/of/file' }));
	assert.deepEqual(
		unpackFolderCandidates({ env: {}, file, home: null }),
		['/data/of/file/cache'],
		'what is wrong is told later',
	);
	writeFileSync(file, '{');
	assert.deepEqual(unpackFolderCandidates({ env: {}, file, home: null }), [resolve('data/run/cache')]);
});
