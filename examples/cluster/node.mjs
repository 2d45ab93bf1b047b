// A node of Parley that is started again when it has ended, as a supervisor does.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { start } from './programs.mjs';

const main = fileURLToPath(new URL('../../.build/main.js', import.meta.url));
const RESTART_MS = 3_000;

/**
 * Starts a node and waits until it listens.
 * @param name for the lines that are printed about it
 * @param settings environment variables of the node
 * @returns its port, and `stop`
 */
export async function startNode(name, folder, settings) {
	mkdirSync(folder);
	let isStopping = false;
	let current = null;
	const run = (port) =>
		new Promise((resolve, reject) => {
			let output = '';
			current = start(process.execPath, [main, 'serve'], {
				cwd: folder,
				env: { ...process.env, ...settings, PARLEY_DATA_DIR: folder, PARLEY_PORT: String(port) },
				onOutput(text) {
					output += text;
					const listening = /Parley listens on \S+:(\d+)/.exec(output);
					if (listening !== null) resolve(Number(listening[1]));
				},
			});
			void current.ended.then((how) => reject(new Error(`${name} ended at its start (${how}).\n${output}`)));
		});
	const port = await run(0);
	const supervise = async () => {
		for (;;) {
			console.log(`${name}: process ${current.pid}, port ${port}`);
			const how = await current.ended;
			if (isStopping) return;
			console.log(`${name}: ended (${how}), starts again in ${RESTART_MS / 1000} s`);
			await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
			if (isStopping) return;
			await run(port).catch((error) => console.error(error.message));
		}
	};
	void supervise();
	return {
		port,
		async stop() {
			isStopping = true;
			await current.stop();
		},
	};
}
