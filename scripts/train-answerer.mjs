// npm run train:answerer: fits the weights of the built-in model's answers and writes src/extractive/matching/weights.json.
// bench/answers/training/train.ts describes how.
import { ensureInstalled } from './install.mjs';
import { main, run } from './project.mjs';
import { ensureWasmCompiled } from './wat.mjs';

await main(async () => {
	await ensureInstalled();
	await ensureWasmCompiled();
	return (await run(process.execPath, ['--import', 'tsx', 'bench/answers/training/train.ts'])).code;
});
