import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openThesauri } from '../../src/thesauri/index.ts';
import { writeThesaurus } from './write-thesaurus.ts';

let folder: string;
const newFolder = () => mkdtemp(join(folder, 'mythes-'));

before(async () => {
	folder = await mkdtemp(join(tmpdir(), 'parley-thesauri-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const GERMAN = {
	garantie: ['-|Gewährleistung|Herstellergarantie (fachspr.)|volle Haftung'],
	kosten: ['-|ausmachen|betragen', '-|abschmecken|probieren'],
	müll: ['-|Abfall|Unrat'],
};

test('finds the synonyms of the words of a question in its language, also of inflected ones', async () => {
	const from = await newFolder();
	await writeThesaurus(from, 'th_de_DE_v2', GERMAN);
	await using thesauri = await openThesauri([from]);
	assert.deepEqual(thesauri.loaded, [{ language: 'de', file: join(from, 'th_de_DE_v2.idx'), size: 3 }]);
	assert.deepEqual(await thesauri.synonymsOf('Wie lange gilt die Garantie?'), [
		{ word: 'garantie', synonyms: ['Gewährleistung', 'Herstellergarantie'] },
	]);
	const [plural] = await thesauri.synonymsOf('Welche Garantien gibt es und wo steht das?');
	assert.deepEqual(plural?.synonyms, ['Gewährleistung', 'Herstellergarantie']);
	const [verb] = await thesauri.synonymsOf('Was kosten die Geräte?');
	assert.deepEqual(verb?.synonyms, ['ausmachen', 'betragen', 'abschmecken', 'probieren']);
	const [rubbish] = await thesauri.synonymsOf('Wohin mit dem Müll und der Asche?');
	assert.deepEqual(rubbish?.synonyms, ['Abfall', 'Unrat']);
	assert.deepEqual(await thesauri.synonymsOf('How long is the garantie of the device?'), [], 'it is not German');
});

test('reads the encoding that the first line names', async () => {
	const from = await newFolder();
	await writeThesaurus(from, 'th_fr_FR_v2', { hôtel: ['(Nom)|auberge|pension|hébergement'] }, 'ISO8859-1');
	await using thesauri = await openThesauri([from]);
	const [found] = await thesauri.synonymsOf('Est-ce que vous avez un hôtel pour la nuit ?');
	assert.deepEqual(found?.synonyms, ['auberge', 'pension', 'hébergement']);
});

test('takes one thesaurus for each language, that of its main country first', async () => {
	const from = await newFolder();
	await writeThesaurus(from, 'th_de_AT_v2', { jänner: ['-|Januar'] });
	await writeThesaurus(from, 'th_de_DE_v2', GERMAN);
	for (const end of ['idx', 'dat']) await symlink(join(from, `th_de_DE_v2.${end}`), join(from, `th_de_CH_v2.${end}`));
	await using thesauri = await openThesauri([from]);
	assert.deepEqual(
		thesauri.loaded.map(({ file }) => file),
		[join(from, 'th_de_DE_v2.idx')],
	);
	await using none = await openThesauri([]);
	assert.deepEqual([none.loaded, await none.synonymsOf('Was kostet die Garantie?')], [[], []]);
});

test('names the folder or file that cannot be used', async () => {
	const [empty, bad, lacking, strange] = await Promise.all([newFolder(), newFolder(), newFolder(), newFolder()]);
	await writeThesaurus(bad, 'th_de_DE_v2', GERMAN, 'UTF-99');
	await writeThesaurus(lacking, 'th_de_DE_v2', GERMAN);
	await rm(join(lacking, 'th_de_DE_v2.dat'));
	await writeThesaurus(strange, 'th_de_DE_v2', GERMAN);
	await truncate(join(strange, 'th_de_DE_v2.idx'), 6);
	const problems: Array<[folder: string, problem: RegExp]> = [
		[join(folder, 'nothing'), /^Error: PARLEY_THESAURI names .*nothing, which cannot be read: /],
		[empty, /^Error: PARLEY_THESAURI names .*, which has no thesaurus \(th_\*\.idx\)\.$/],
		[bad, /th_de_DE_v2\.idx of PARLEY_THESAURI cannot be used: it does not begin with a known encoding: "utf-99"\.$/],
		[lacking, /it has no data file beside it/],
		[strange, /it has no entries\.$/],
	];
	for (const [from, problem] of problems) await assert.rejects(openThesauri([from]), problem);
});
