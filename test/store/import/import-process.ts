import { messageOf } from '../../../src/base/index.ts';
import { importIntoPostgres } from '../../../src/store/index.ts';

/** A process that copies a data folder into PostgreSQL. Its exit code is 0 when both are equal. */
const [dataDir = '', url = ''] = process.argv.slice(2);
try {
	const outcome = await importIntoPostgres({
		...{ dataDir, url, signal: new AbortController().signal },
		now: () => Date.now(),
		onCopied: (part, copied) => void process.stdout.write(`${part} ${copied}\n`),
	});
	process.exitCode = 'parts' in outcome && outcome.isEqual ? 0 : 2;
} catch (error) {
	process.stderr.write(`${messageOf(error)}\n`);
	process.exitCode = 1;
}
