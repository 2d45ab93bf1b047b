// A program: counts the terms of many chunks. A map for each chunk would not fit into its small heap.
import { countTermsOfChunks } from '../../src/retrieval/training/term-counts.ts';

const TERMS = 300;
const CHUNKS = 20_000;

const chunk = { title_terms: '', body_terms: Array.from({ length: TERMS }, (_, index) => `term${index}`).join(' ') };
const { chunks, termIndexes, terms } = countTermsOfChunks(Array(CHUNKS).fill(chunk), 1);
process.stdout.write(JSON.stringify({ chunks, entries: termIndexes.length, terms: terms.length }));
