/**
 * npm run bench -- retrieval [collection…]
 *
 * Measures search quality on test collections, with the real store and the search worker's own function: nDCG@10, Recall@10 and
 * MRR@10 of full text alone, vectors alone and both (with the weight that the collection chooses itself); the time to train the
 * embedding; and how well the confidence separates a collection's questions from those of the others. Each document is one chunk, title and text. The collections are in
 * ../shared/data/ir. Without them nothing is measured.
 */
import { parseArgs } from 'node:util';
import { Report } from './report/report.ts';
import { collectionFigures } from './retrieval/collection-figures.ts';
import { COLLECTIONS, readCollection } from './retrieval/collections.ts';
import { MODES, type Mode } from './retrieval/indexed-collection.ts';

const { positionals } = parseArgs({ allowPositionals: true });
const names = positionals.length > 0 ? positionals : COLLECTIONS;
const collections = names.map(readCollection).filter((collection) => collection !== undefined);
const report = new Report('retrieval');
if (collections.length < names.length) {
	console.log(`Some of the collections ${names.join(', ')} are not in ../shared/data/ir; they are left out.`);
}
report.add(...(await collectionFigures(collections, Object.keys(MODES) as Mode[])));
await report.close();
