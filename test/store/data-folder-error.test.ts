import assert from 'node:assert/strict';
import test from 'node:test';
import Database from 'better-sqlite3';
import { damagedDatabaseError, dataFolderError } from '../../src/store/index.ts';

const failure = (code: string, path?: string) => Object.assign(new Error('no'), { code, ...(path ? { path } : {}) });

test('turns errors of the data folder into sentences with the file and a remedy, and no other errors', () => {
	for (const code of ['EACCES', 'ENOENT', 'EROFS', 'ENOSPC', 'EISDIR', 'SQLITE_IOERR_WRITE', 'SQLITE_CANTOPEN']) {
		const sentence = dataFolderError(failure(code), '/srv/data')?.message ?? '';
		assert.match(sentence, new RegExp(`^The data folder /srv/data cannot be used: .*PARLEY_DATA_DIR.*\\(${code}\\)$`));
	}
	const about = (path: string) => dataFolderError(failure('EACCES', path), '/srv/data')?.message ?? null;
	assert.match(about('/srv/data/secret.key') ?? '', /cannot be used \(\/srv\/data\/secret\.key\): /);
	assert.match(about('/srv') ?? '', /cannot be used \(\/srv\): /, 'a folder above it');
	assert.equal(about('/srv/database'), null);
	assert.equal(about('/opt/parley/static/docs.js'), null);
	assert.equal(dataFolderError(failure('ERR_INVALID_ARG_TYPE'), '/srv/data'), null);
});

test('the sentence about a damaged schema is one line', () => {
	const error = Object.assign(
		new Error('malformed database schema (audit_log) - unrecognized token: "`NOT NULL,\n\t\tcreated_at"'),
		{
			code: 'SQLITE_CORRUPT',
		},
	);
	assert.equal(
		damagedDatabaseError(error, '/data')?.message,
		'The database in /data is damaged: malformed database schema (audit_log) - unrecognized token: "`NOT NULL, created_at". Restore a backup; "parley doctor" shows what is damaged. (SQLITE_CORRUPT)',
	);
});

test('a table or a column that has another name in the database is damage, a wrong statement is not', () => {
	const db = new Database(':memory:');
	db.exec('CREATE TABLE known (a)');
	const damage = (sql: string) => {
		try {
			db.prepare(sql);
		} catch (error) {
			return damagedDatabaseError(error, '/data')?.message ?? null;
		}
		return assert.fail('The statement is right.');
	};
	for (const sql of ['SELECT b FROM known', 'SELECT a FROM unknown', 'INSERT INTO known (b) VALUES (1)'])
		assert.match(damage(sql) ?? '', /^The database in \/data is damaged: .*\. Restore a backup; .* \(SQLITE_ERROR\)$/);
	assert.equal(damage('SELECT a FRM known'), null);
	db.close();
});
