// A program: parses a PDF with recognition of its scans, and prints the result. Arguments: the file, and the packages as JSON.
import parse from '../../workers/parse.ts';

const [path = '', packages = ''] = process.argv.slice(2);
const job = { path, file_name: 'a.pdf', content_type: null, title: null, url: null };
process.stdout.write(JSON.stringify(await parse({ ...job, recognition: JSON.parse(packages) })));
