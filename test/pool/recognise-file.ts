// A program: recognises the text of a PDF, and prints its blocks. Arguments: the file, and the packages as JSON.
import { readFileSync } from 'node:fs';
import { parseDocument } from '../../src/parsing/index.ts';

const [path = '', packages = ''] = process.argv.slice(2);
const source = { file_name: 'a.pdf', content_type: null, url: null };
const { blocks } = await parseDocument(readFileSync(path), source, JSON.parse(packages));
process.stdout.write(JSON.stringify(blocks));
