import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openApiDocument } from '../../src/contract/index.ts';
import { ApiDescription, type OpenApiDocument } from '../support/openapi.ts';
import { programOfHeyApi, programOfOpenApiFetch } from './client-programs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Inside the project, so that the programs find its packages. */
const folder = mkdtempSync(join(root, '.build', 'clients-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a script of a package; its output is the failure's message. */
function run(script: string, ...args: string[]): void {
	const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'node_modules', script), ...args], {
		cwd: folder,
		encoding: 'utf8',
	});
	assert.equal(status, 0, `${script}:\n${stdout}${stderr}`);
}

test('compiles strictly the clients of openapi-typescript and @hey-api/openapi-ts with a call of every operation', () => {
	const document = JSON.parse(JSON.stringify(openApiDocument('1.2.3'))) as OpenApiDocument;
	const api = new ApiDescription(document);
	const description = join(folder, 'openapi.json');
	writeFileSync(description, JSON.stringify(document));
	copyFileSync(join(root, '.build/openapi/client.d.ts'), join(folder, 'paths.d.ts'));
	run(
		'@hey-api/openapi-ts/bin/index.cjs',
		...['--input', description, '--output', join(folder, 'sdk'), '--client', '@hey-api/client-fetch', '--silent'],
	);
	writeFileSync(join(folder, 'openapi-fetch.ts'), programOfOpenApiFetch(api));
	writeFileSync(join(folder, 'hey-api.ts'), programOfHeyApi(api));
	writeFileSync(
		join(folder, 'tsconfig.json'),
		JSON.stringify({
			compilerOptions: {
				target: 'ES2022',
				lib: ['ES2022', 'DOM', 'DOM.Iterable'],
				module: 'ESNext',
				moduleResolution: 'Bundler',
				strict: true,
				noEmit: true,
				skipLibCheck: true,
				types: [],
			},
			files: ['openapi-fetch.ts', 'hey-api.ts'],
		}),
	);
	run('typescript/bin/tsc', '-p', folder);
});
