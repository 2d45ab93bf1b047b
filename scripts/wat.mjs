// Compiles each WebAssembly text file below src (*.wat) to a module beside it that exports its bytes (*.wasm.js). Git ignores
// those modules. All runs use them alike: the bundle, the bundled tests, and the benches, which tsx runs from the sources.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, fingerprint, put, root, say, UserError } from './project.mjs';

/** Compiles what is missing or stale. Needs the dependencies. */
export async function ensureWasmCompiled() {
	for (const source of filesBelow('src', (path) => path.endsWith('.wat'))) {
		const output = source.replace(/\.wat$/, '.wasm.js');
		const stamp = `// From ${source}, compiled by scripts/wat.mjs. ${fingerprint([source, 'scripts/wat.mjs', 'package.json'])}\n`;
		if (read(output)?.startsWith(stamp)) continue;
		const bytes = await compile(source);
		const base64 = Buffer.from(bytes).toString('base64');
		put(output, `${stamp}export default Uint8Array.from(Buffer.from('${base64}', 'base64'));\n`);
		say(`Compiled ${source} to ${bytes.length} bytes.`);
	}
}

async function compile(source) {
	const { default: wabt } = await import('wabt');
	const features = { simd: true };
	try {
		const module = (await wabt()).parseWat(source, readFileSync(join(root, source), 'utf8'), features);
		module.validate(features);
		return module.toBinary({}).buffer;
	} catch (error) {
		throw new UserError(`${source} does not compile: ${error.message}`);
	}
}

function read(path) {
	try {
		return readFileSync(join(root, path), 'utf8');
	} catch {
		return null;
	}
}
