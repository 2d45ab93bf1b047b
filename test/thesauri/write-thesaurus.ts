import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Writes a thesaurus in the format of MyThes: `NAME.dat` with the entries and `NAME.idx` with their positions.
 * @param entries for each word the lines of its meanings: a class and synonyms, separated by bars
 * @param encoding the first line of both files
 */
export async function writeThesaurus(
	folder: string,
	name: string,
	entries: Record<string, readonly string[]>,
	encoding = 'UTF-8',
): Promise<void> {
	const charset = encoding === 'ISO8859-1' ? 'latin1' : 'utf8';
	let data = Buffer.from(`${encoding}\n`, charset);
	const index = [encoding, String(Object.keys(entries).length)];
	for (const [word, meanings] of Object.entries(entries)) {
		index.push(`${word}|${data.length}`);
		const entry = [`${word}|${meanings.length}`, ...meanings, ''].join('\n');
		data = Buffer.concat([data, Buffer.from(entry, charset)]);
	}
	await writeFile(join(folder, `${name}.dat`), data);
	await writeFile(join(folder, `${name}.idx`), Buffer.from(`${index.join('\n')}\n`, charset));
}
