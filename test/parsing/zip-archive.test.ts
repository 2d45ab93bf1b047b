import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zipSync } from 'fflate';
import { Parts } from '../../src/parsing/zip-archive.ts';
import { zipped } from '../fixtures/documents/zipped.ts';

const MB = 1024 * 1024;

/** The place of a file's header in the directory of an archive. */
function headerOf(archive: Buffer, name: string): number {
	return archive.lastIndexOf(name) - 46;
}

test('reads the parts of an archive by their names in lower case, inflated or stored', () => {
	const parts = new Parts(zipped({ mimetype: 'a/b', 'Word\\Document.xml': '<a/>'.repeat(100) }), 'document');
	assert.deepEqual([...parts.names], ['mimetype', 'word/document.xml']);
	assert.equal(Buffer.from(parts.get('mimetype') ?? '').toString(), 'a/b');
	assert.equal(parts.get('word/document.xml')?.length, 400);
	assert.equal(parts.get('other.xml'), undefined);
});

test('a part that no parser asks for is not inflated', () => {
	const parts = new Parts(
		Buffer.from(zipSync({ 'a.xml': new Uint8Array(2), 'bomb.xml': new Uint8Array(64 * MB) })),
		'document',
	);
	assert.equal(parts.get('a.xml')?.length, 2);
	assert.throws(() => parts.get('bomb.xml'), { code: 'resource_limit', message: /document unpacks/ });
});

test('a part that inflates to more than the archive declares is rejected', () => {
	const archive = Buffer.from(zipSync({ 'a.xml': new Uint8Array(8 * MB) }));
	archive.writeUInt32LE(100, headerOf(archive, 'a.xml') + 24);
	assert.throws(() => new Parts(archive, 'document').get('a.xml'), { code: 'resource_limit' });
});

test('a stored part of another size than the archive declares is damaged', () => {
	const archive = Buffer.from(zipSync({ 'a.xml': [new Uint8Array(5000), { level: 0 }] }));
	assert.equal(new Parts(archive, 'document').get('a.xml')?.length, 5000);
	archive.writeUInt32LE(100, headerOf(archive, 'a.xml') + 24);
	assert.throws(() => new Parts(archive, 'document').get('a.xml'), { code: 'unreadable_file', message: /damaged/ });
});

test('names without the flag for UTF-8 are read as UTF-8 if they are, else as Latin-1', () => {
	for (const encoding of ['utf8', 'latin1'] as const) {
		const name = Buffer.from('Größe.xml', encoding);
		const archive = Buffer.from(zipSync({ ['x'.repeat(name.length)]: new Uint8Array(3) }));
		for (let at = archive.indexOf('xxx'); at !== -1; at = archive.indexOf('xxx', at + 1)) name.copy(archive, at);
		assert.deepEqual([...new Parts(archive, 'document').names], ['größe.xml']);
	}
});

test('a damaged directory, an unknown compression and a password are rejected with their reasons', () => {
	const archive = Buffer.from(zipSync({ 'a.xml': new Uint8Array(500) }));
	assert.throws(() => new Parts(archive.subarray(0, -30), 'document'), { code: 'unreadable_file', message: /damaged/ });
	assert.throws(() => new Parts(Buffer.alloc(0), 'document'), { code: 'unreadable_file' });
	const changed = (offset: number, value: number) => {
		const copy = Buffer.from(archive);
		copy.writeUInt16LE(value, headerOf(copy, 'a.xml') + offset);
		return new Parts(copy, 'document');
	};
	assert.throws(() => changed(10, 12).get('a.xml'), { code: 'unreadable_file', message: /damaged/ });
	assert.throws(() => changed(8, 1).get('a.xml'), { code: 'unreadable_file', message: /password/ });
});
